// `npm start [PATH]`: sets everything up, then shows what Device Lens finds in the example project, or in PATH.
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, ROOT, runQuietly } from './lib/process.mjs';
import { announce, ensureClient, ensureServer, PYTHON } from './lib/setup.mjs';

const MOST_FILES = 500;

async function main() {
  const wanted = process.argv[2];
  const target = wanted
    ? path.resolve(process.env.INIT_CWD ?? '.', wanted)
    : path.join(ROOT, 'examples');
  if (!existsSync(target)) {
    throw new CommandFailed(`There is no ${target}.`);
  }
  ensureServer();
  ensureClient();
  await demonstrate(target);
  openEditor(target);
}

async function demonstrate(target) {
  // What these modules import is there only after the set-up.
  const { LanguageServer } = await import('./lib/languageServer.mjs');
  const { pythonFiles, showFindings } = await import('./lib/findings.mjs');
  const { bold, dim } = await import('./lib/terminal.mjs');
  const files = pythonFiles(target).slice(0, MOST_FILES);
  const root = statSync(target).isDirectory() ? target : path.dirname(target);
  const command = [PYTHON, '-I', '-X', 'utf8', '-m', 'device_lens', 'serve', '--stdio'];
  const server = await LanguageServer.start(command, root);
  const version = [server.info.name, server.info.version].filter(Boolean).join(' ');
  console.log(
    `\n${bold('Device Lens for PyTorch')}  ${dim(`${version}, started in ${seconds(server.startedInMs)}`)}`,
  );
  const began = performance.now();
  const counts = await showFindings(server, files, console.log);
  await server.stop();
  const found = Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
  const spent = seconds(performance.now() - began);
  console.log(`\n${bold(found || 'Nothing found')} ${dim(`in ${files.length} files, ${spent}`)}\n`);
}

function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Opens the editor with the extension loaded, where there is one. */
function openEditor(target) {
  if (process.env.CI) {
    return;
  }
  try {
    runQuietly('code', ['--version']);
  } catch {
    console.log('No `code` on the PATH: the editor is not opened.');
    console.log('`npm run package` builds the extension, to be installed from its VSIX.');
    return;
  }
  announce('Opening the editor with the extension loaded');
  runQuietly('code', [`--extensionDevelopmentPath=${ROOT}`, target]);
}

try {
  await main();
} catch (error) {
  console.error(error instanceof CommandFailed ? error.message : error);
  process.exitCode = 1;
}
