// Writes `dist/docs`, the page that shows the OpenAPI document.
import { cpSync } from 'node:fs';

cpSync('src/docs', 'dist/docs', { recursive: true });
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
  cpSync(`node_modules/swagger-ui-dist/${file}`, `dist/docs/${file}`);
}
