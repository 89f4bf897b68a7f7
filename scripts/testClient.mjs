// Runs the client's unit tests under Node's own runner, with a stand-in for the editor's API.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { ROOT, runShown } from './lib/process.mjs';

const out = path.join(ROOT, 'build', 'client-tests');
const folder = path.join(ROOT, 'tests', 'client');
const names = readdirSync(folder).filter((name) => /\.test\.(ts|mjs)$/.test(name));

rmSync(out, { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  entryPoints: names.map((name) => path.join(folder, name)),
  outdir: out,
  bundle: true,
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  target: 'node20',
  alias: { vscode: path.join(folder, 'fakeVscode.ts') },
  sourcemap: 'inline',
  logLevel: 'warning',
});
const tests = names.map((name) => path.join(out, name.replace(/\.\w+$/, '.mjs')));
const flags = ['--enable-source-maps', '--test', '--test-reporter=spec', ...process.argv.slice(2)];
process.exitCode = (await runShown(process.execPath, [...flags, ...tests])).status;
