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

---@class acp.Options.Window
---@field position? 'left'|'right'|'above'|'below'|'auto'
---@field size? number Columns or lines; below 1 a share of the screen.

---@type acp.Options
local defaults = {
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
