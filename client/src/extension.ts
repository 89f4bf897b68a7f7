/** Wires the parts together; each of them lives in a module of its own. */
import { type ExtensionContext, workspace } from 'vscode';
import { registerCommands } from './commands';
import { Interpreters } from './interpreters';
import { createLog } from './logging';
import { DeviceMapPanel } from './panels/deviceMap';
import { TransferCurvePanel } from './panels/transferCurve';
import { Server } from './server';
import { effectOfChange } from './settings';
import { StatusItem } from './status';

let server: Server | undefined;

export function activate(context: ExtensionContext): void {
  const log = createLog();
  const status = new StatusItem();
  const interpreters = new Interpreters(log);
  const running = new Server(context, log, status, interpreters);
  const transferCurve = new TransferCurvePanel(context.extensionUri, running);
  const deviceMap = new DeviceMapPanel(context.extensionUri, running);
  server = running;
  context.subscriptions.push(
    log,
    status,
    interpreters,
    transferCurve,
    deviceMap,
    ...registerCommands({ context, log, status, server: running, deviceMap, transferCurve }),
    interpreters.onDidChange(() => void running.refreshEnvironment()),
    workspace.onDidGrantWorkspaceTrust(() => void running.restart()),
    workspace.onDidChangeConfiguration((event) => {
      const effect = effectOfChange((section) => event.affectsConfiguration(section));
      if (effect === 'restart') {
        void running.restart();
      } else if (effect === 'environment') {
        void running.refreshEnvironment();
      }
    }),
  );
  // Not awaited: the editor must not wait for a process to start.
  void running.restart();
}

export function deactivate(): Promise<void> | undefined {
  return server?.dispose();
}
