// Stands in for the Python extension: the part of its interface that others use, over two interpreters of a setting.
const { commands, EventEmitter, Uri, workspace } = require('vscode');

exports.activate = () => {
  const changed = new EventEmitter();
  let selected = 0;
  const active = () => ({
    id: 'stub',
    path: workspace.getConfiguration('stub').get('interpreters')[selected],
  });
  commands.registerCommand('stub.select', () => {
    selected = 1 - selected;
    changed.fire(active());
  });
  return {
    environments: {
      getActiveEnvironmentPath: active,
      resolveEnvironment: async ({ path }) => ({ executable: { uri: Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
