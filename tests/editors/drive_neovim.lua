-- Does in Neovim what a user does, and writes what was to be seen as JSON to the file $SEEN.
-- $STEPS names what to do, in order; the functions below are the steps.
local PATIENCE = 60000
local seen = {}

local function wait_for(what, condition)
  if not vim.wait(PATIENCE, condition, 50) then
    error('waited in vain for ' .. what)
  end
end

local function client()
  local clients = (vim.lsp.get_clients or vim.lsp.get_active_clients)()
  return clients[1]
end

local function diagnostics()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    local text = vim.api.nvim_buf_get_text(0, each.lnum, each.col, each.end_lnum, each.end_col, {})
    table.insert(found, {
      code = each.code,
      message = each.message,
      severity = each.severity,
      source = each.source,
      text = table.concat(text, '\n'),
    })
  end
  return found
end

-- What the server answers to a request about the place under the cursor.
local function ask(method, extra)
  local params = vim.lsp.util.make_position_params(0, client().offset_encoding)
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend('force', params, extra or {}), PATIENCE)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function put_cursor(part)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local at = line:find(part, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { number, at - 1 })
      return
    end
  end
  error('not in the text: ' .. part)
end

local steps = {}

function steps.open()
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.PROGRAM))
  wait_for('the server', client)
  wait_for('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  seen.diagnostics = diagnostics()
  seen.encoding = client().offset_encoding
end

function steps.hover()
  put_cursor(vim.env.AT)
  seen.hover = ask('textDocument/hover').contents.value
end

function steps.hints()
  local last = vim.api.nvim_buf_line_count(0)
  local whole = { start = { line = 0, character = 0 }, ['end'] = { line = last, character = 0 } }
  seen.hints = {}
  for _, hint in ipairs(ask('textDocument/inlayHint', { range = whole })) do
    table.insert(seen.hints, hint.label)
  end
end

-- Takes the action whose title begins with $ACTION, from the menu that Neovim itself shows.
local function choose_action()
  put_cursor(vim.env.AT)
  local chosen = false
  vim.ui.select = function(items, options, on_choice)
    seen.actions = {}
    for index, item in ipairs(items) do
      local title = (item.action or item[2]).title
      table.insert(seen.actions, title)
      if title:find(vim.env.ACTION, 1, true) == 1 and not chosen then
        chosen = true
        on_choice(item, index)
      end
    end
  end
  vim.lsp.buf.code_action()
  wait_for('the menu', function() return seen.actions end)
end

function steps.fix()
  choose_action()
  wait_for('the edit', function() return vim.bo.modified end)
  vim.cmd('write')
  wait_for('the diagnostic to go', function() return #vim.diagnostic.get(0) == 0 end)
end

function steps.measure()
  choose_action()
  wait_for('the measurement', function()
    steps.hover()
    return seen.hover:find('Measured on', 1, true)
  end)
end

local fine, problem = pcall(function()
  for step in vim.gsplit(vim.env.STEPS, ' ', true) do
    steps[step]()
  end
end)
seen.problem = not fine and tostring(problem) or nil
local file = assert(io.open(vim.env.SEEN, 'w'))
file:write(vim.fn.json_encode(seen))
file:close()
vim.cmd('qall!')
