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
---@field complete? fun(lead: string): string[]

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
  local session = require('acp.session').current()
  return vim.tbl_map(function(change)
    return vim.fn.fnamemodify(vim.uri_to_fname(change.uri), ':~:.')
  end, session and session.changes or {})
end

---@param step 'keep'|'revert'
---@return acp.Subcommand
local function review_step(step)
  return {
    run = function(call)
      local review = require('acp.review')
      review.step(step, not call.bang and review.target(call.text) or nil)
    end,
    complete = changed_files,
  }
end

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
  cancel = {
    run = function()
      require('acp.session').execute('acp.session.cancel')
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
      require('acp.review').list()
    end,
  },
  keep = review_step('keep'),
  revert = review_step('revert'),
  undo = {
    run = function()
      require('acp.review').step('undo')
    end,
  },
  diff = {
    run = function(call)
      local review = require('acp.review')
      review.diff(review.target(call.text))
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
    candidates = complete and complete(lead) or {}
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
