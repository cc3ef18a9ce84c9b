// Writes `dist/docs`, the page that shows the OpenAPI document. Compressed, since browsers take it so, and it is the largest
// thing in `dist`.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';

const SWAGGER = 'node_modules/swagger-ui-dist';
const ours = readdirSync('src/docs').map((name) => `src/docs/${name}`);
mkdirSync('dist/docs', { recursive: true });
for (const file of [...ours, `${SWAGGER}/swagger-ui.css`, `${SWAGGER}/swagger-ui-bundle.js`]) {
  writeFileSync(`dist/docs/${basename(file)}.gz`, gzipSync(readFileSync(file), { level: 9 }));
}
