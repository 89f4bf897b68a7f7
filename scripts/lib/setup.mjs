// Sets up what a checkout needs, and nothing twice: each step leaves the hash of its inputs behind.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, ROOT, runQuietly } from './process.mjs';

const VENV = path.join(ROOT, '.venv');
const MINIMUM = [3, 10];

/** The Python of the checkout's own environment. */
export const PYTHON =
  process.platform === 'win32'
    ? path.join(VENV, 'Scripts', 'python.exe')
    : path.join(VENV, 'bin', 'python');

/** Installs the Node packages that the lock file names into `folder`. */
export function ensureNodeModules(folder = '.') {
  const at = path.join(ROOT, folder);
  ensureOnce(
    path.join(at, 'node_modules', '.device-lens-stamp'),
    [path.join(at, 'package-lock.json')],
    () => {
      announce(`Installing Node packages${folder === '.' ? '' : ` of ${folder}`}`);
      runQuietly('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: at });
    },
  );
}

/** Makes `.venv` with the server, editable, and its pinned libraries. */
export function ensureServer() {
  if (!existsSync(PYTHON)) {
    announce('Making the virtual environment .venv');
    makeEnvironment();
  }
  const inputs = ['requirements-bundle.txt', 'requirements-dev.txt', 'pyproject.toml'].map(
    inServer,
  );
  ensureOnce(path.join(VENV, '.device-lens-server'), inputs, () => {
    announce('Installing the server and its libraries');
    pip('--require-hashes', '-r', inServer('requirements-bundle.txt'));
    pip('-c', inServer('requirements-dev.txt'), '-e', path.join(ROOT, 'server'));
  });
}

/** Adds what tests and checks need to `.venv`. */
export function ensureTestTools() {
  ensureServer();
  ensureOnce(path.join(VENV, '.device-lens-tests'), [inServer('requirements-dev.txt')], () => {
    announce('Installing what the tests need');
    pip('-r', inServer('requirements-dev.txt'));
  });
}

/** Bundles the client. */
export function ensureClient() {
  ensureNodeModules();
  runQuietly(process.execPath, [path.join('scripts', 'build.mjs')]);
}

export function announce(text) {
  process.stdout.write(`• ${text} …\n`);
}

function inServer(name) {
  return path.join(ROOT, 'server', name);
}

function pip(...args) {
  runQuietly(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args]);
}

function makeEnvironment() {
  const python = findPython();
  try {
    runQuietly(python[0], [...python.slice(1), '-m', 'venv', VENV]);
  } catch (error) {
    const hint = 'On Debian and Ubuntu, `apt-get install python3-venv` brings what is missing.';
    throw new CommandFailed(`${error.message}\n${hint}`);
  }
}

/** The first command that starts a Python that is new enough. */
function findPython() {
  const numbered = [14, 13, 12, 11, 10].map((minor) => [`python3.${minor}`]);
  const candidates = [['python3'], ['python'], ['py', '-3'], ...numbered];
  const test = `import sys; sys.exit(sys.version_info < (${MINIMUM.join(', ')}))`;
  for (const [program, ...args] of candidates) {
    try {
      runQuietly(program, [...args, '-c', test]);
      return [program, ...args];
    } catch {
      // Not there, or too old: the next one may do.
    }
  }
  throw new CommandFailed(
    `Python ${MINIMUM.join('.')} or newer is needed, and none is on the PATH.`,
  );
}

/** Runs `work` unless it was done with the same inputs before; `stamp` is where that is noted. */
export function ensureOnce(stamp, inputs, work) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    hash.update(readFileSync(input));
  }
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) {
    return;
  }
  work();
  writeFileSync(stamp, digest);
}
