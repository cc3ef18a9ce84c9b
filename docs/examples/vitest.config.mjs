// No configuration is needed. (In this repository this file replaces the project's own configuration.)
export default {};
