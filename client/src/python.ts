/**
 * Finds a Python for the language server, and names the one the project uses.
 *
 * Two interpreters with two jobs: any Python >= 3.10 can run the server, which is isolated and brings its own
 * libraries; the project's Python (of any age) only runs the benchmark's worker. This module knows nothing of
 * the editor: what the editor and its extensions can tell comes in through `EnvironmentProvider`.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import * as path from 'node:path';

export type Version = readonly [number, number, number];

/** The oldest Python that runs the server. */
export const MINIMUM_PYTHON: Version = [3, 10, 0];

/** How long an interpreter may take to tell its version, in milliseconds. */
export const PROBE_TIMEOUT_MS = 10_000;

/** A command line that may start a Python, and in words where it was found. */
export interface Candidate {
  readonly command: readonly string[];
  readonly origin: string;
}

/** A candidate that ran. `executable` is what Python itself says it is. */
export interface Interpreter extends Candidate {
  readonly executable: string;
  readonly version: Version;
}

/** A candidate that cannot run the server, with the reason. */
export interface Rejection extends Candidate {
  readonly reason: string;
}

export interface Search {
  readonly found: Interpreter | undefined;
  readonly rejected: readonly Rejection[];
}

/** Something that knows interpreters: a setting, another extension, the PATH. */
export interface EnvironmentProvider {
  readonly name: string;
  /** Candidates, best first. Never rejects: a provider that fails knows none. */
  candidates(): Promise<readonly Candidate[]>;
}

export type Probe = (
  command: readonly string[],
) => Promise<{ executable: string; version: Version }>;

const PROBE_SOURCE =
  'import json, sys; print(json.dumps([sys.executable, list(sys.version_info[:3])]))';

/** The first interpreter of `providers`, in their order, that is new enough for the server. */
export async function findServerPython(
  providers: readonly EnvironmentProvider[],
  probe: Probe = probeInterpreter,
): Promise<Search> {
  const rejected: Rejection[] = [];
  const seen = new Set<string>();
  for (const provider of providers) {
    for (const candidate of await provider.candidates()) {
      const key = JSON.stringify(candidate.command);
      if (seen.has(key)) {
        continue;
      }
      seen.add(key);
      const outcome = await examine(candidate, probe);
      if ('version' in outcome) {
        return { found: outcome, rejected };
      }
      rejected.push(outcome);
    }
  }
  return { found: undefined, rejected };
}

/** The command of the project's interpreter: the first candidate there is, whatever its version. */
export async function findProjectPython(
  providers: readonly EnvironmentProvider[],
): Promise<Candidate | undefined> {
  for (const provider of providers) {
    const [first] = await provider.candidates();
    if (first !== undefined) {
      return first;
    }
  }
  return undefined;
}

async function examine(candidate: Candidate, probe: Probe): Promise<Interpreter | Rejection> {
  try {
    const { executable, version } = await probe(candidate.command);
    if (isAtLeast(version, MINIMUM_PYTHON)) {
      return { ...candidate, executable, version };
    }
    const needed = `${MINIMUM_PYTHON[0]}.${MINIMUM_PYTHON[1]}`;
    return { ...candidate, reason: `is Python ${version.join('.')}, ${needed} or newer is needed` };
  } catch (error) {
    return { ...candidate, reason: `does not run: ${reasonOf(error)}` };
  }
}

export function isAtLeast(version: Version, minimum: Version): boolean {
  for (const [index, part] of minimum.entries()) {
    const own = version[index] ?? 0;
    if (own !== part) {
      return own > part;
    }
  }
  return true;
}

/** Asks a Python for its path and version. Isolated, so that nothing of the project runs. */
export function probeInterpreter(
  command: readonly string[],
): Promise<{ executable: string; version: Version }> {
  const [program, ...before] = command;
  if (program === undefined) {
    return Promise.reject(new Error('the command is empty'));
  }
  return new Promise((resolve, reject) => {
    const options = { timeout: PROBE_TIMEOUT_MS, windowsHide: true };
    execFile(program, [...before, '-I', '-c', PROBE_SOURCE], options, (error, stdout) => {
      if (error !== null) {
        reject(error.killed ? new Error(`no answer in ${PROBE_TIMEOUT_MS / 1000} s`) : error);
        return;
      }
      try {
        resolve(parseProbe(stdout));
      } catch (parseError) {
        reject(parseError);
      }
    });
  });
}

function parseProbe(stdout: string): { executable: string; version: Version } {
  const parsed: unknown = JSON.parse(stdout);
  if (Array.isArray(parsed) && typeof parsed[0] === 'string' && Array.isArray(parsed[1])) {
    const [major, minor, micro] = parsed[1].map(Number);
    return { executable: parsed[0], version: [major ?? 0, minor ?? 0, micro ?? 0] };
  }
  throw new Error('it is not a Python');
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split('\n').at(-1) ?? message;
}

/** What the PATH offers: the plain names first, then the numbered ones, newest first. */
export class PathProvider implements EnvironmentProvider {
  readonly name = 'PATH';

  constructor(
    private readonly environment: NodeJS.ProcessEnv = process.env,
    private readonly platform: NodeJS.Platform = process.platform,
  ) {}

  async candidates(): Promise<readonly Candidate[]> {
    const commands = this.platform === 'win32' ? WINDOWS_COMMANDS : POSIX_COMMANDS;
    return commands.flatMap(([name, ...rest]) => {
      const program = this.which(name);
      return program === undefined ? [] : [{ command: [program, ...rest], origin: 'the PATH' }];
    });
  }

  private which(name: string): string | undefined {
    const suffixes = this.platform === 'win32' ? ['.exe', '.bat', '.cmd'] : [''];
    const folders = (this.environment.PATH ?? this.environment.Path ?? '').split(path.delimiter);
    return folders
      .filter((folder) => path.isAbsolute(folder))
      .flatMap((folder) => suffixes.map((suffix) => path.join(folder, name + suffix)))
      .find(isExecutable);
  }
}

type Command = readonly [string, ...string[]];
const NUMBERED = [14, 13, 12, 11, 10].map((minor): Command => [`python3.${minor}`]);
const POSIX_COMMANDS: readonly Command[] = [['python3'], ['python'], ...NUMBERED];
const WINDOWS_COMMANDS: readonly Command[] = [['python'], ['py', '-3'], ['python3'], ...NUMBERED];

/** The virtual environment that lies in a folder, where there is one. */
export class FolderProvider implements EnvironmentProvider {
  readonly name = 'virtual environment of the folder';

  constructor(
    private readonly folders: readonly string[],
    private readonly platform: NodeJS.Platform = process.platform,
  ) {}

  async candidates(): Promise<readonly Candidate[]> {
    return this.folders
      .flatMap((folder) => ['.venv', 'venv'].map((name) => path.join(folder, name)))
      .map((environment) => pythonOf(environment, this.platform))
      .filter(isExecutable)
      .map((program) => ({ command: [program], origin: this.name }));
  }
}

/** The interpreter inside a virtual environment. */
export function pythonOf(
  environment: string,
  platform: NodeJS.Platform = process.platform,
): string {
  return platform === 'win32'
    ? path.join(environment, 'Scripts', 'python.exe')
    : path.join(environment, 'bin', 'python');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What the user reads when no candidate can run the server: the first line alone has to do in a message. */
export function explainNothingFound(rejected: readonly Rejection[]): string {
  const needed = `${MINIMUM_PYTHON[0]}.${MINIMUM_PYTHON[1]}`;
  const details = rejected.map(
    ({ command, origin, reason }) => `${command.join(' ')}, from ${origin}, ${reason}.`,
  );
  const [only, ...others] = details;
  if (only !== undefined && others.length === 0) {
    return `No Python ${needed} or newer was found: ${only}`;
  }
  return [`No Python ${needed} or newer was found to run the server.`, ...details].join('\n');
}
