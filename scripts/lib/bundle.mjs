// Puts the server and its libraries, pruned, into `bundled/`, from where the packed extension runs them.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CommandFailed, ROOT, runQuietly } from './process.mjs';
import { PYTHON } from './setup.mjs';

const BUNDLED = path.join(ROOT, 'bundled');
const LIBS = path.join(BUNDLED, 'libs');

/** Of jedi's stubs only those of the standard library are asked for: the rest is 27 MB. */
const PRUNED = [
  'jedi/third_party/django-stubs',
  'jedi/third_party/typeshed/stubs',
  // What they describe gives no tensor and no module: windows, terminals, a converter of old sources,
  // how texts are encoded, marked up and mailed, how packages were built.
  'jedi/third_party/typeshed/stdlib/tkinter',
  'jedi/third_party/typeshed/stdlib/lib2to3',
  'jedi/third_party/typeshed/stdlib/encodings',
  'jedi/third_party/typeshed/stdlib/distutils',
  'jedi/third_party/typeshed/stdlib/ensurepip',
  'jedi/third_party/typeshed/stdlib/xml',
  'jedi/third_party/typeshed/stdlib/xmlrpc',
  'jedi/third_party/typeshed/stdlib/email',
  'jedi/third_party/typeshed/stdlib/curses',
  'jedi/third_party/typeshed/stdlib/msilib',
  'jedi/third_party/typeshed/stdlib/pydoc_data',
  // Nor what their parts, mail boxes, web servers, tables of a database, loops of events, debuggers and the registry of an
  // operating system are.
  'jedi/third_party/typeshed/stdlib/asyncio',
  'jedi/third_party/typeshed/stdlib/dbm',
  'jedi/third_party/typeshed/stdlib/dis.pyi',
  'jedi/third_party/typeshed/stdlib/doctest.pyi',
  'jedi/third_party/typeshed/stdlib/http',
  'jedi/third_party/typeshed/stdlib/pdb.pyi',
  'jedi/third_party/typeshed/stdlib/pydoc.pyi',
  'jedi/third_party/typeshed/stdlib/pyexpat',
  'jedi/third_party/typeshed/stdlib/socketserver.pyi',
  'jedi/third_party/typeshed/stdlib/ssl.pyi',
  'jedi/third_party/typeshed/stdlib/_ssl.pyi',
  'jedi/third_party/typeshed/stdlib/_curses.pyi',
  'jedi/third_party/typeshed/stdlib/_curses_panel.pyi',
  'jedi/third_party/typeshed/stdlib/_msi.pyi',
  'jedi/third_party/typeshed/stdlib/_sqlite3.pyi',
  'jedi/third_party/typeshed/stdlib/_tkinter.pyi',
  'jedi/third_party/typeshed/stdlib/_winapi.pyi',
  'jedi/third_party/typeshed/stdlib/ftplib.pyi',
  'jedi/third_party/typeshed/stdlib/imaplib.pyi',
  'jedi/third_party/typeshed/stdlib/mailbox.pyi',
  'jedi/third_party/typeshed/stdlib/msvcrt.pyi',
  'jedi/third_party/typeshed/stdlib/nntplib.pyi',
  'jedi/third_party/typeshed/stdlib/poplib.pyi',
  'jedi/third_party/typeshed/stdlib/smtplib.pyi',
  'jedi/third_party/typeshed/stdlib/sqlite3',
  'jedi/third_party/typeshed/stdlib/telnetlib.pyi',
  'jedi/third_party/typeshed/stdlib/termios.pyi',
  'jedi/third_party/typeshed/stdlib/turtle.pyi',
  'jedi/third_party/typeshed/stdlib/winreg.pyi',
  'jedi/third_party/typeshed/stdlib/winsound.pyi',
  'jedi/third_party/typeshed/stdlib/wsgiref',
  // Nor addresses and sockets, sounds, forms of web pages, and names of one system's own types.
  'jedi/third_party/typeshed/stdlib/_socket.pyi',
  'jedi/third_party/typeshed/stdlib/asyncore.pyi',
  'jedi/third_party/typeshed/stdlib/bdb.pyi',
  'jedi/third_party/typeshed/stdlib/cgi.pyi',
  'jedi/third_party/typeshed/stdlib/ipaddress.pyi',
  'jedi/third_party/typeshed/stdlib/ossaudiodev.pyi',
  'jedi/third_party/typeshed/stdlib/select.pyi',
  'jedi/third_party/typeshed/stdlib/selectors.pyi',
  'jedi/third_party/typeshed/stdlib/smtpd.pyi',
  'jedi/third_party/typeshed/stdlib/socket.pyi',
  // Nor archives, settings, signals, tests, calendars, addresses of pages, other languages' data and Python's own trees.
  'jedi/third_party/typeshed/stdlib/_asyncio.pyi',
  'jedi/third_party/typeshed/stdlib/_codecs.pyi',
  'jedi/third_party/typeshed/stdlib/_ctypes.pyi',
  'jedi/third_party/typeshed/stdlib/ast.pyi',
  'jedi/third_party/typeshed/stdlib/calendar.pyi',
  'jedi/third_party/typeshed/stdlib/codecs.pyi',
  'jedi/third_party/typeshed/stdlib/configparser.pyi',
  'jedi/third_party/typeshed/stdlib/ctypes',
  'jedi/third_party/typeshed/stdlib/decimal.pyi',
  'jedi/third_party/typeshed/stdlib/errno.pyi',
  'jedi/third_party/typeshed/stdlib/fcntl.pyi',
  'jedi/third_party/typeshed/stdlib/gzip.pyi',
  'jedi/third_party/typeshed/stdlib/locale.pyi',
  'jedi/third_party/typeshed/stdlib/logging/config.pyi',
  'jedi/third_party/typeshed/stdlib/logging/handlers.pyi',
  'jedi/third_party/typeshed/stdlib/mmap.pyi',
  'jedi/third_party/typeshed/stdlib/optparse.pyi',
  'jedi/third_party/typeshed/stdlib/posix.pyi',
  'jedi/third_party/typeshed/stdlib/signal.pyi',
  'jedi/third_party/typeshed/stdlib/statistics.pyi',
  'jedi/third_party/typeshed/stdlib/tarfile.pyi',
  'jedi/third_party/typeshed/stdlib/tokenize.pyi',
  'jedi/third_party/typeshed/stdlib/traceback.pyi',
  'jedi/third_party/typeshed/stdlib/unittest',
  'jedi/third_party/typeshed/stdlib/urllib',
  'jedi/third_party/typeshed/stdlib/zipfile',
];

/** In the metadata of a library, what its licence and its version need. */
const KEPT_METADATA = /^(METADATA|licenses|LICEN[CS]E.*|COPYING.*|NOTICE.*|AUTHORS.*)$/;

export function bundleServer() {
  rmSync(BUNDLED, { recursive: true, force: true });
  mkdirSync(LIBS, { recursive: true });
  installLibraries();
  pruneLibraries();
  const isSource = (file) => path.basename(file) !== '__pycache__';
  const source = path.join(ROOT, 'server', 'device_lens');
  cpSync(source, path.join(BUNDLED, 'server', 'device_lens'), {
    recursive: true,
    filter: isSource,
  });
  // The server looks for the pages of its rules here, and in a checkout where they are written.
  cpSync(path.join(ROOT, 'docs', 'rules'), path.join(BUNDLED, 'server', 'device_lens', 'pages'), {
    recursive: true,
  });
  cpSync(path.join(ROOT, 'scripts', 'launch.py'), path.join(BUNDLED, 'launch.py'));
}

/** Universal wheels only, each checked against its hash, so that one package fits every machine. */
function installLibraries() {
  const universal = ['--only-binary=:all:', '--implementation=py', '--platform=any', '--abi=none'];
  runQuietly(PYTHON, [
    ...[
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-compile',
      '--no-deps',
    ],
    ...universal,
    ...['--python-version=3.10', '--require-hashes', `--target=${LIBS}`],
    ...['-r', path.join(ROOT, 'server', 'requirements-bundle.txt')],
  ]);
}

function pruneLibraries() {
  for (const name of PRUNED) {
    const at = path.join(LIBS, name);
    if (!existsSync(at)) {
      throw new CommandFailed(
        `There is no ${name} among the libraries: the list of what to prune is out of date.`,
      );
    }
    rmSync(at, { recursive: true });
  }
  for (const name of readdirSync(LIBS).filter((entry) => entry.endsWith('.dist-info'))) {
    const folder = path.join(LIBS, name);
    for (const entry of readdirSync(folder).filter((inside) => !KEPT_METADATA.test(inside))) {
      rmSync(path.join(folder, entry), { recursive: true });
    }
  }
}
