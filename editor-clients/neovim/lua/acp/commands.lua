---What :Acp understands, a subcommand an entry.
local tell = require('acp.tell')

local M = {}

---@class acp.Call
---@field words string[] The words after the subcommand.
---@field text string The same, as typed.
---@field bang boolean
---@field range? { first: integer, last: integer } 1-based lines.

---@class acp.Subcommand
---@field run fun(call: acp.Call)
---@field complete? fun(lead: string, typed: string): string[] `typed`: all after the subcommand.

---@param call acp.Call
---@return acp.Attached[]?
local function context(call)
  if not call.range then
    return nil
  end
  local range = {
    start = { line = call.range.first - 1, character = 0 },
    ['end'] = { line = call.range.last, character = 0 },
  }
  return { { uri = vim.uri_from_bufnr(0), range = range } }
end

---@return string[]
local function changed_files()
  return vim.tbl_map(function(file)
    return vim.fn.fnamemodify(file.name, ':~:.')
  end, require('acp.changes').files())
end

---What is kept or reverted, as a word.
local SCOPES = { 'hunk', 'file', 'all' }

---@param typed string
---@return string[]
local function scopes_and_files(_, typed)
  if vim.startswith(typed, 'file ') then
    return vim.tbl_map(function(name)
      return 'file ' .. name
    end, changed_files())
  end
  return vim.list_extend(vim.list_slice(SCOPES), changed_files())
end

---@param step 'keep'|'revert'
---@return acp.Subcommand
local function review_step(step)
  return {
    run = function(call)
      local review = require('acp.review')
      local scope, name = call.words[1], vim.trim((call.text:gsub('^%S+', '', 1)))
      if call.bang or call.text == 'all' then
        review.all(step)
      elseif call.text == 'hunk' or (call.range and call.text == '') then
        local range = call.range or {}
        review.hunks(step, range.first, range.last)
      elseif scope == 'file' then
        review.file(step, review.target(name))
      else
        review.file(step, review.target(call.text))
      end
    end,
    complete = scopes_and_files,
  }
end

---Steps of which `:Acp undo all` takes back at most so many.
local ALL_STEPS = 1000

---@return string[]
local function agent_names()
  local names = vim.tbl_keys(require('acp.config').get().agents)
  for _, name in ipairs({ 'demo', 'opencode', 'gemini', 'claude', 'codex' }) do
    if not vim.tbl_contains(names, name) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---@return string[]
local function config_values()
  local session = require('acp.session').current()
  local found = {}
  for _, option in ipairs(session and session.options or {}) do
    local choices = option.type == 'boolean' and { { value = 'true' }, { value = 'false' } }
      or option.options
      or {}
    for _, choice in ipairs(choices) do
      -- A choice, or a group of them.
      for _, one in ipairs(choice.options or { choice }) do
        found[#found + 1] = option.id .. ' ' .. one.value
      end
    end
  end
  return found
end

---@param direction 1|-1
---@return acp.Subcommand
local function motion(direction)
  return {
    run = function(call)
      local count = tonumber(call.words[1]) or 1
      require('acp.motion').jump(direction, math.max(1, count))
    end,
  }
end

---@type table<string, acp.Subcommand>
local subcommands = {
  new = {
    run = function(call)
      local cwd = call.words[2] and vim.fn.fnamemodify(call.words[2], ':p') or nil
      require('acp.session').new({ agent = call.words[1], cwd = cwd })
    end,
    complete = agent_names,
  },
  load = {
    run = function(call)
      local agent, id = call.words[1], call.words[2]
      if id then
        require('acp.session').load(agent, id)
      else
        require('acp.session').pick(agent)
      end
    end,
    complete = agent_names,
  },
  session = {
    run = function(call)
      require('acp.session').choose(call.text)
    end,
    complete = function()
      return vim.tbl_map(function(session)
        return session.id
      end, require('acp.session').open())
    end,
  },
  prompt = {
    run = function(call)
      if call.text == '' then
        require('acp.prompt').open(context(call))
      else
        require('acp.session').prompt(call.text, context(call))
      end
    end,
  },
  queue = {
    run = function()
      require('acp.session').show_queue()
    end,
  },
  login = {
    run = function(call)
      require('acp.session').log('login', call.words[1], call.words[2])
    end,
    complete = agent_names,
  },
  logout = {
    run = function(call)
      require('acp.session').log('logout', call.words[1])
    end,
    complete = agent_names,
  },
  cancel = {
    run = function(call)
      if call.text == '' then
        require('acp.session').execute('acp.session.cancel')
      else
        require('acp.session').execute('acp.toolCall.cancel', { toolCallId = call.text })
      end
    end,
    complete = function()
      local session = require('acp.session').current()
      return session and require('acp.transcript').stoppable(session.id) or {}
    end,
  },
  close = {
    run = function()
      require('acp.session').execute('acp.session.close')
    end,
  },
  mode = {
    run = function(call)
      require('acp.session').set_mode(call.text)
    end,
    complete = function()
      local session = require('acp.session').current()
      return vim.tbl_map(function(mode)
        return mode.id
      end, session and session.modes and session.modes.availableModes or {})
    end,
  },
  config = {
    run = function(call)
      local id, value = call.text:match('^(%S+)%s+(.+)$')
      if id then
        require('acp.session').set_option(id, value)
      else
        tell.error(':Acp config {option} {value}')
      end
    end,
    complete = config_values,
  },
  follow = {
    run = function(call)
      require('acp.session').follow(call.words[1])
    end,
    complete = function()
      return { 'on', 'off' }
    end,
  },
  permission = {
    run = function(call)
      local permission = require('acp.permission')
      if call.bang then
        permission.dismiss()
      elseif call.text == '' then
        permission.enter()
      else
        permission.answer(call.text)
      end
    end,
    complete = function()
      local question = require('acp.permission').waiting()[1]
      return vim.tbl_map(function(option)
        return option.title
      end, question and question.options or {})
    end,
  },
  terminal = {
    run = function(call)
      local terminal = require('acp.terminal')
      local id = call.text ~= '' and call.text or nil
      if call.bang then
        terminal.kill(id)
      else
        terminal.open(id)
      end
    end,
    complete = function()
      return require('acp.terminal').ids()
    end,
  },
  transcript = {
    run = function()
      local session = require('acp.session').current()
      if session then
        require('acp.transcript').toggle(session.id)
      else
        tell.error('no session is open. :Acp new opens one')
      end
    end,
  },
  review = {
    run = function()
      require('acp.quickfix').open('files')
    end,
  },
  changes = {
    run = function()
      require('acp.quickfix').open('hunks')
    end,
  },
  next = motion(1),
  prev = motion(-1),
  preview = {
    run = function()
      require('acp.preview').open()
    end,
  },
  lines = {
    run = function(call)
      require('acp.drawing').toggle_lines(call.words[1])
    end,
    complete = function()
      return { 'on', 'off' }
    end,
  },
  checkpoints = {
    run = function()
      require('acp.checkpoints').choose()
    end,
  },
  keep = review_step('keep'),
  revert = review_step('revert'),
  undo = {
    run = function(call)
      local count = call.text == '' and 1
        or call.text == 'all' and ALL_STEPS
        or tonumber(call.text)
      if count and count >= 1 then
        require('acp.review').undo(count)
      else
        tell.error(':Acp undo [{count}|all]')
      end
    end,
    complete = function()
      return { 'all' }
    end,
  },
  diff = {
    run = function(call)
      require('acp.compare').file(require('acp.review').target(call.text))
    end,
    complete = changed_files,
  },
  restart = {
    run = function()
      local client = require('acp.client')
      client.stop()
      client.start()
    end,
  },
  stop = {
    run = function()
      require('acp.client').stop()
    end,
  },
  messages = {
    run = tell.show,
  },
  log = {
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.get_log_path()))
    end,
  },
}

---@param opts vim.api.keyset.create_user_command.command_args
function M.run(opts)
  local name = opts.fargs[1] or 'prompt'
  local subcommand = subcommands[name]
  if not subcommand then
    local names = vim.tbl_keys(subcommands)
    table.sort(names)
    tell.error(('%q is none of: %s'):format(name, table.concat(names, ', ')))
    return
  end
  subcommand.run({
    words = vim.list_slice(opts.fargs, 2),
    text = vim.trim((opts.args:gsub('^%s*%S+', '', 1))),
    bang = opts.bang,
    range = opts.range > 0 and { first = opts.line1, last = opts.line2 } or nil,
  })
end

---@param lead string
---@param line string
---@param column integer
---@return string[]
function M.complete(lead, line, column)
  local typed = line:sub(1, column):gsub('^.-Acp!?%s+', '', 1)
  local name, rest = typed:match('^(%S+)%s+(.*)$')
  local candidates, prefix
  if not name then
    candidates, prefix = vim.tbl_keys(subcommands), ''
    table.sort(candidates)
    rest = typed
  else
    local complete = subcommands[name] and subcommands[name].complete
    candidates = complete and complete(lead, rest) or {}
    -- Candidates may hold blanks; only what follows the last blank typed is replaced.
    prefix = rest:sub(1, #rest - #lead)
  end
  local found = {}
  for _, candidate in ipairs(candidates) do
    if vim.startswith(candidate, rest) then
      found[#found + 1] = candidate:sub(#prefix + 1)
    end
  end
  return found
end

return M
