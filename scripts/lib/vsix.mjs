// The packed extension, and a check that its server starts wherever it is put.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleServer } from './bundle.mjs';
import { ROOT, runQuietly } from './process.mjs';
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

/** Libraries that the server has of its own: here as traps, which fail whoever imports them. */
const TRAPS = ['typing_extensions', 'attrs', 'attr', 'pygls', 'lsprotocol', 'jedi', 'json'];

/**
 * Unpacks the package under a path with spaces and other letters, and lets its server answer `initialize` while the
 * environment and the current folder offer broken libraries. Returns what the server calls itself.
 */
export async function checkPackage() {
  const folder = mkdtempSync(path.join(tmpdir(), 'device-lens-'));
  const unpacked = path.join(folder, 'Größe der Dinge');
  const traps = path.join(folder, 'traps');
  mkdirSync(unpacked);
  mkdirSync(traps);
  for (const trap of TRAPS) {
    writeFileSync(
      path.join(traps, `${trap}.py`),
      'raise ImportError("a package of the user was imported")\n',
    );
  }
  try {
    const unzip = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
    runQuietly(PYTHON, ['-c', unzip, PACKAGE, unpacked]);
    const launcher = path.join(unpacked, 'extension', 'bundled', 'launch.py');
    const { LanguageServer } = await import('./languageServer.mjs');
    const command = [PYTHON, '-I', '-X', 'utf8', '-S', launcher, 'serve', '--stdio'];
    const environment = { ...process.env, PYTHONPATH: traps, PYTHONHOME: '/nowhere' };
    const server = await LanguageServer.start(command, traps, { cwd: traps, env: environment });
    await server.stop();
    return [server.info.name, server.info.version].filter(Boolean).join(' ');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
