// Bundles the client into one file that the editor loads, and each page of a panel into a script and a style.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licencesOf } from './lib/licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  logLevel: 'warning',
  metafile: true,
};

const client = await build({
  ...shared,
  entryPoints: ['client/src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  sourcemap: 'linked',
});

/** `client/webviews/NAME/main.ts`, which imports its style, becomes `dist/webviews/NAME.js` and `NAME.css`. */
const pages = readdirSync(path.join(root, 'client', 'webviews'))
  .map((name) => ({ in: `client/webviews/${name}/main.ts`, out: name }))
  .filter((page) => existsSync(path.join(root, page.in)));

const webviews = await build({
  ...shared,
  entryPoints: pages,
  outdir: 'dist/webviews',
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
});

writeFileSync(
  path.join(root, 'dist', 'licences.txt'),
  licencesOf(root, [client.metafile, webviews.metafile]),
);
