/** Opens the page of a rule, which ships with the server, as rendered Markdown. */
import { commands, Uri, window } from 'vscode';
import type { Parts } from './commands';

export async function openRule(parts: Parts, rule: unknown): Promise<void> {
  const href = await hrefOf(parts, rule);
  if (href === undefined) {
    void window.showInformationMessage(`Device Lens knows no rule named ${String(rule)}.`);
    return;
  }
  const uri = Uri.parse(href);
  if (uri.scheme === 'file') {
    await commands.executeCommand('markdown.showPreview', uri);
  } else {
    await commands.executeCommand('vscode.open', uri);
  }
}

/** A name is a few words with dashes, so that nothing else reaches the server or the disk. */
async function hrefOf({ server }: Parts, rule: unknown): Promise<string | undefined> {
  if (typeof rule !== 'string' || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(rule)) {
    return undefined;
  }
  const answer = await server.running?.sendRequest<{ href?: string } | null>(
    'deviceLens/rulePage',
    {
      rule,
    },
  );
  return answer?.href;
}
