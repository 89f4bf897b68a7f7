/** A report on how the extension runs, to read or to put into an issue. */
import * as os from 'node:os';
import { env, version, window, workspace } from 'vscode';
import type { Parts } from './commands';
import { SECTION } from './settings';

export async function showDebugInformation(parts: Parts): Promise<void> {
  const content = describe(parts);
  const document = await workspace.openTextDocument({ content, language: 'markdown' });
  await window.showTextDocument(document);
}

function describe({ context, status, server }: Parts): string {
  const launch = server.launch;
  const info = server.running?.initializeResult?.serverInfo;
  const capabilities = server.running?.initializeResult?.capabilities;
  const folder = workspace.workspaceFolders?.[0]?.uri;
  return [
    '# Device Lens: debug information',
    '',
    ...rows({
      Extension: context.extension.packageJSON.version,
      Editor: `${env.appName} ${version}${env.remoteName ? `, remote: ${env.remoteName}` : ''}`,
      System: `${os.type()} ${os.release()} ${os.arch()}`,
      'Workspace trusted': workspace.isTrusted ? 'yes' : 'no',
      Folders: String(workspace.workspaceFolders?.length ?? 0),
      Status: [status.status.state, status.status.message, status.status.details]
        .filter(Boolean)
        .join(' — '),
      Server: info ? `${info.name} ${info.version ?? ''}`.trim() : 'not running',
      'Server command': launch ? [launch.command, ...launch.args].join(' ') : 'none',
      'Project interpreter': server.projectInterpreter?.join(' ') ?? 'none',
    }),
    '',
    ...block('Settings', workspace.getConfiguration(SECTION, folder)),
    ...block('Capabilities of the server', capabilities ?? null),
  ].join('\n');
}

function rows(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `- ${name}: ${value}`);
}

function block(title: string, value: unknown): string[] {
  return [`## ${title}`, '', '```json', JSON.stringify(value, undefined, 2), '```', ''];
}
