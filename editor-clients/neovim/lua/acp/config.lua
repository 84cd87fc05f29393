local M = {}

---@class acp.Agent
---@field command string
---@field args? string[]
---@field env? table<string, string>
---@field cwd? string

---@class acp.Options
---@field cmd? string[]|fun(dispatchers: vim.lsp.rpc.Dispatchers, config: table): vim.lsp.rpc.PublicClient
---The sidecar's command, or what |vim.lsp.ClientConfig| takes in its place.
---@field root_dir? string|fun(): string The folder agents work in. Default: the Git root, else the cwd.
---@field agents? table<string, acp.Agent> Agents of your own, by name.
---@field default_agent? string
---@field settings? table Further settings of the sidecar, as its documentation names them.
---@field restart? boolean Start the sidecar again when it died. Default: true.
---@field transcript? acp.Options.Window
---@field reveal? acp.Options.Window
---@field permission? { width?: integer } The widest a question gets.
---@field icons? table<string, string>
---@field review? acp.Options.Review
---@field keymaps? boolean|table<string, string|false> Whether maps are set; see |acp-keymaps|.

---@class acp.Options.Review
---@field signs? table<string, string> Text by kind of hunk, at most two cells each.
---@field sign_priority? integer
---@field number_highlights? boolean Colour the line numbers too.
---@field virtual_lines? boolean Show the old lines above the new ones.
---@field line_highlights? boolean Colour the new lines while the old ones are shown.
---@field max_lines? integer Old lines shown of one hunk.
---@field code_lens? boolean Leave the sidecar's code lenses on, which say the same.

---@class acp.Options.Window
---@field position? 'left'|'right'|'above'|'below'|'auto'
---@field size? number Columns or lines; below 1 a share of the screen.

---@type acp.Options
local defaults = {
  keymaps = false,
  review = {
    signs = {
      added = '┃',
      changed = '┃',
      removed = '▁',
      topremoved = '▔',
      conflict = '╳',
      proposed = '┆',
    },
    sign_priority = 20,
    number_highlights = false,
    virtual_lines = true,
    line_highlights = true,
    max_lines = 200,
    code_lens = false,
  },
  cmd = { 'acp-sidecar', 'serve' },
  root_dir = function()
    return vim.fs.root(0, '.git') or vim.fn.getcwd()
  end,
  agents = {},
  settings = {},
  restart = true,
  transcript = { position = 'left', size = 0.4 },
  reveal = { position = 'auto', size = 0.5 },
  permission = { width = 90 },
  icons = {
    pending = '○',
    in_progress = '◐',
    completed = '✓',
    failed = '✗',
    cancelled = '⊘',
    waiting = '?',
    notice = '!',
    user = '❯',
    agent = '●',
    thought = '…',
  },
}

local options = vim.deepcopy(defaults)

---@param name string
---@param window any
local function validate_window(name, window)
  vim.validate(name, window, 'table')
  vim.validate(name .. '.position', window.position, function(value)
    return vim.tbl_contains({ 'left', 'right', 'above', 'below', 'auto' }, value)
  end, 'left, right, above, below or auto')
  vim.validate(name .. '.size', window.size, 'number')
end

---@param name string
---@param agent any
local function validate_agent(name, agent)
  vim.validate('agents.' .. name, agent, 'table')
  vim.validate(('agents.%s.command'):format(name), agent.command, 'string')
  for field, kind in pairs({ args = 'table', env = 'table', cwd = 'string' }) do
    vim.validate(('agents.%s.%s'):format(name, field), agent[field], kind, true)
  end
end

---@param review any
local function validate_review(review)
  vim.validate('review', review, 'table')
  for name, value in pairs(review) do
    local default = defaults.review[name]
    if default == nil then
      error(('acp: unknown option %q (see :help acp-options)'):format('review.' .. name), 0)
    end
    vim.validate('review.' .. name, value, type(default))
  end
  for kind, text in pairs(review.signs) do
    if not defaults.review.signs[kind] then
      error(('acp: unknown option %q (see :help acp-options)'):format('review.signs.' .. kind), 0)
    end
    vim.validate('review.signs.' .. kind, text, function(value)
      return type(value) == 'string' and vim.fn.strdisplaywidth(value) <= 2
    end, 'a text of at most two cells')
  end
end

---@param keymaps any
local function validate_keymaps(keymaps)
  vim.validate('keymaps', keymaps, { 'boolean', 'table' })
  local known = require('acp.keymaps').defaults
  for name, lhs in pairs(type(keymaps) == 'table' and keymaps or {}) do
    if not known[name] then
      error(('acp: unknown option %q (see :help acp-keymaps)'):format('keymaps.' .. name), 0)
    end
    vim.validate('keymaps.' .. name, lhs, function(value)
      return value == false or type(value) == 'string' and value ~= ''
    end, 'keys, or false')
  end
end

---@param given? acp.Options
function M.set(given)
  vim.validate('options', given, 'table', true)
  for key in pairs(given or {}) do
    if defaults[key] == nil and key ~= 'default_agent' then
      error(('acp: unknown option %q (see :help acp-options)'):format(key), 0)
    end
  end
  local merged = vim.tbl_deep_extend('force', defaults, given or {})
  vim.validate('cmd', merged.cmd, { 'table', 'function' })
  vim.validate('root_dir', merged.root_dir, { 'string', 'function' })
  vim.validate('agents', merged.agents, 'table')
  vim.validate('default_agent', merged.default_agent, 'string', true)
  vim.validate('settings', merged.settings, 'table')
  vim.validate('restart', merged.restart, 'boolean')
  vim.validate('permission.width', merged.permission.width, 'number')
  validate_review(merged.review)
  validate_keymaps(merged.keymaps)
  validate_window('transcript', merged.transcript)
  validate_window('reveal', merged.reveal)
  for name, agent in pairs(merged.agents) do
    validate_agent(name, agent)
  end
  options = merged
end

---@return acp.Options
function M.get()
  return options
end

---@return string
function M.root_dir()
  local root = options.root_dir
  return vim.fs.normalize(vim.fn.fnamemodify(type(root) == 'function' and root() or root --[[@as string]], ':p'))
end

---What the sidecar gets as `initializationOptions`.
---@return table
function M.init_options()
  local init = vim.deepcopy(options.settings)
  for name, agent in pairs(options.agents) do
    init.agents = init.agents or {}
    init.agents[name] = {
      command = agent.command,
      args = agent.args,
      cwd = agent.cwd,
      -- An empty Lua table would become a JSON array.
      env = agent.env and next(agent.env) and agent.env or nil,
    }
  end
  init.defaultAgent = options.default_agent or init.defaultAgent
  return next(init) and init or vim.empty_dict()
end

---@param size number
---@param whole integer
---@return integer
function M.cells(size, whole)
  return math.max(1, math.floor(size < 1 and size * whole or size))
end

return M
