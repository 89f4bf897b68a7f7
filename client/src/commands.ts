/** The commands of the palette. Each is short: what is more than a line lives elsewhere. */
import {
  ConfigurationTarget,
  commands,
  type Disposable,
  type ExtensionContext,
  extensions,
  type LogOutputChannel,
  workspace,
} from 'vscode';
import { showDebugInformation } from './debugInformation';
import { PYTHON_EXTENSION } from './environments';
import { fixAll } from './fixingAll';
import { measureTransfer } from './measuring';
import type { DeviceMapPanel } from './panels/deviceMap';
import type { TransferCurvePanel } from './panels/transferCurve';
import { openRule } from './rulePages';
import type { Server } from './server';
import { SECTION } from './settings';
import type { StatusItem } from './status';

export interface Parts {
  readonly context: ExtensionContext;
  readonly log: LogOutputChannel;
  readonly status: StatusItem;
  readonly server: Server;
  readonly transferCurve: TransferCurvePanel;
  readonly deviceMap: DeviceMapPanel;
}

export function registerCommands(parts: Parts): Disposable[] {
  const { log, server } = parts;
  const table: Record<string, (...args: unknown[]) => unknown> = {
    restart: () => server.restart(),
    showLogs: () => log.show(),
    debugInformation: () => showDebugInformation(parts),
    fixAll: () => fixAll(),
    chooseInterpreter: () => openSetting('interpreter'),
    chooseProjectInterpreter: () => chooseProjectInterpreter(),
    showTransferCurve: () => parts.transferCurve.show(),
    showDeviceMap: () => parts.deviceMap.show(),
    openRule: (rule) => openRule(parts, rule),
    measureTransfer: () => measureTransfer(),
    toggleTransferHints: () => toggle('inlayHints.transfers'),
    toggleDeviceHints: () => toggle('inlayHints.devices'),
  };
  return Object.entries(table).map(([name, run]) =>
    commands.registerCommand(`${SECTION}.${name}`, run),
  );
}

async function openSetting(key: string): Promise<void> {
  await commands.executeCommand('workbench.action.openSettings', `${SECTION}.${key}`);
}

/** Lets the Python extension select an environment, where that is what decides; else opens the setting. */
async function chooseProjectInterpreter(): Promise<void> {
  const setting = workspace.getConfiguration(SECTION).get<string[]>('projectInterpreter') ?? [];
  if (setting.length === 0 && extensions.getExtension(PYTHON_EXTENSION.extensionId)) {
    await commands.executeCommand('python.setInterpreter');
  } else {
    await openSetting('projectInterpreter');
  }
}

/** Turns a switch over where it is set: in the workspace if it is set there, else for the user. */
async function toggle(key: string): Promise<void> {
  const configuration = workspace.getConfiguration(SECTION);
  const inspected = configuration.inspect<boolean>(key);
  const target =
    inspected?.workspaceValue === undefined
      ? ConfigurationTarget.Global
      : ConfigurationTarget.Workspace;
  await configuration.update(key, !configuration.get<boolean>(key), target);
}
