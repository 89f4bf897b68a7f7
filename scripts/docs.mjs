// `npm run docs [-- --check]`: writes the pages of the rules anew, or tells whether they are fresh.
import path from 'node:path';
import { CommandFailed, runShown } from './lib/process.mjs';
import { ensureServer, PYTHON } from './lib/setup.mjs';

try {
  ensureServer();
  const generator = path.join('server', 'tools', 'generate_rule_docs.py');
  process.exitCode = (await runShown(PYTHON, [generator, ...process.argv.slice(2)])).status;
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
