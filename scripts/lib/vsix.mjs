// The packed extension, and a check that its server starts wherever it is put.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleServer } from './bundle.mjs';
import { CommandFailed, ROOT, runQuietly } from './process.mjs';
import { announce, ensureClient, ensureServer, PYTHON } from './setup.mjs';

const { name, version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

export const PACKAGE = path.join(ROOT, `${name}-${version}.vsix`);

/** Makes the package from the checkout as it is. */
export function packExtension() {
  ensureServer();
  ensureClient();
  announce('Packing the extension with the server and its libraries');
  bundleServer();
  packFolder(ROOT, PACKAGE);
}

/** Packs the extension that lies in `folder`. */
export function packFolder(folder, target) {
  const vsce = path.join(ROOT, 'node_modules', '@vscode', 'vsce', 'vsce');
  const flags = ['--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository'];
  runQuietly(process.execPath, [vsce, 'package', ...flags, '--skip-license', '--out', target], {
    cwd: folder,
  });
}

/** Modules of Python's own and libraries of the server: here as traps, which fail whoever imports them. */
const TRAPS = [
  ...['ast', 'attr', 'attrs', 'cattrs', 'dataclasses', 'jedi', 'json', 'logging', 'lsprotocol'],
  ...['parso', 'pathspec', 'pygls', 'rich', 'typing', 'typing_extensions'],
];
const PROGRAM = 'import torch\n\nx = torch.ones(3)\nx.to("cuda")\n';

/**
 * Unpacks the package under a path with spaces and other letters, and lets its server find something while the
 * environment and the current folder offer broken libraries, and with no environment at all. Returns what the server
 * calls itself.
 */
export async function checkPackage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'device-lens-'));
  const unpacked = path.join(folder, 'Größe der Dinge');
  const project = path.join(folder, 'mein Projekt');
  mkdirSync(unpacked);
  mkdirSync(project);
  for (const trap of TRAPS) {
    const line = 'raise ImportError("a package of the user was imported")\n';
    writeFileSync(path.join(project, `${trap}.py`), line);
  }
  writeFileSync(path.join(project, 'größe.py'), PROGRAM);
  try {
    const unzip = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
    runQuietly(PYTHON, ['-c', unzip, PACKAGE, unpacked]);
    await askServer(unpacked, project, { PATH: '' });
    const hostile = { PYTHONPATH: project, PYTHONHOME: '/nowhere', PYTHONSTARTUP: 'json.py' };
    return await askServer(unpacked, project, { ...process.env, ...hostile });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the server of the unpacked package as the client does; it has to find what is in the project's one program. */
async function askServer(unpacked, project, env) {
  const launcher = path.join(unpacked, 'extension', 'bundled', 'launch.py');
  const { LanguageServer } = await import('./languageServer.mjs');
  const command = [PYTHON, '-I', '-X', 'utf8', '-S', launcher, 'serve', '--stdio'];
  const server = await LanguageServer.start(command, project, { cwd: project, env });
  const document = await server.open(path.join(project, 'größe.py'));
  const found = await server.diagnostics(document);
  const page = found.find(({ code }) => code === 'discarded-transfer')?.codeDescription?.href;
  if (page === undefined || !existsSync(fileURLToPath(page))) {
    throw new CommandFailed(`The packed server finds nothing, or has no page for it: ${page}`);
  }
  await server.stop();
  return [server.info.name, server.info.version].filter(Boolean).join(' ');
}
