/** The settings that the client itself reads. All others go to the server, which asks for them. */
import * as os from 'node:os';

export const SECTION = 'deviceLens';

/** A change of one of these needs another server process. */
const RESTARTING_KEYS = ['interpreter'] as const;

/** A change of one of these needs only a word to the running server. */
const ENVIRONMENT_KEYS = ['projectInterpreter'] as const;

/** The part of the editor's configuration that is needed to read settings. */
export interface Configuration {
  get<T>(key: string): T | undefined;
}

export interface ClientSettings {
  /** The command that starts a Python for the server; empty: find one. */
  readonly interpreter: readonly string[];
  /** The command of the project's Python; empty: the selected environment. */
  readonly projectInterpreter: readonly string[];
}

/** What `${...}` in a setting stands for. */
export interface Variables {
  readonly workspaceFolder: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

export function readSettings(configuration: Configuration, variables: Variables): ClientSettings {
  const command = (key: string) => {
    const value = configuration.get<unknown>(key);
    const parts = Array.isArray(value) ? value.filter((part) => typeof part === 'string') : [];
    return parts.map((part) => resolveVariables(part, variables)).filter((part) => part !== '');
  };
  return { interpreter: command('interpreter'), projectInterpreter: command('projectInterpreter') };
}

/** Replaces `${workspaceFolder}`, `${userHome}`, `${env:NAME}` and a leading `~`. Unknown ones stay as they are. */
export function resolveVariables(text: string, variables: Variables): string {
  const home = /^~(?=$|[\\/])/;
  return text
    .replace(home, () => variables.home)
    .replace(/\$\{([^}]+)\}/g, (whole, name: string) => {
      if (name === 'workspaceFolder') {
        return variables.workspaceFolder ?? whole;
      }
      if (name === 'userHome') {
        return variables.home;
      }
      return name.startsWith('env:') ? (variables.environment[name.slice(4)] ?? '') : whole;
    });
}

export function variablesFor(workspaceFolder: string | undefined): Variables {
  return { workspaceFolder, environment: process.env, home: os.homedir() };
}

export type ChangeEffect = 'restart' | 'environment' | 'none';

/** What a change of settings asks of the client; `affects` is the editor's answer for one key. */
export function effectOfChange(affects: (section: string) => boolean): ChangeEffect {
  if (RESTARTING_KEYS.some((key) => affects(`${SECTION}.${key}`))) {
    return 'restart';
  }
  return ENVIRONMENT_KEYS.some((key) => affects(`${SECTION}.${key}`)) ? 'environment' : 'none';
}
