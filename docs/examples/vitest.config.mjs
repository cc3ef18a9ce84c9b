// Nothing to configure. (In this repository it keeps the project's own configuration out.)
export default {};
