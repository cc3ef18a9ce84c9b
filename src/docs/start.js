// Swagger UI with the document of this very server, and with nothing from elsewhere.
window.ui = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#calls',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0, // the schemas stand with the calls; below them they are a list to open
  docExpansion: 'list',
  tryItOutEnabled: true,
  validatorUrl: null, // by default it asks a server of its makers
});
