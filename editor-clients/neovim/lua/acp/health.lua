---:checkhealth acp
local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  if vim.fn.has('nvim-0.11') == 1 then
    health.ok('version ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.11 or newer is needed', { 'Update Neovim' })
  end
  if jit then
    health.ok('LuaJIT: questions of the agent open in a window of their own')
  else
    health.warn('no LuaJIT: questions of the agent cannot wait in a window of their own')
  end
  if vim.treesitter.language.add('markdown') then
    health.ok('Markdown parser: the conversation is highlighted')
  else
    health.info('no Markdown parser: the conversation is plain')
  end
  if not vim.o.autoread then
    health.warn("'autoread' is off: files an agent writes are brought in as edits", {
      ':set autoread',
    })
  end
end

---@param command string[]
local function check_version(command)
  local run = vim.system(vim.list_extend(vim.list_slice(command, 1, #command - 1), { '--version' }), {
    text = true,
    timeout = 10000,
  }):wait()
  if run.code == 0 then
    health.ok(vim.trim(run.stdout))
  else
    health.error(
      ('%s does not run (exit code %d)'):format(table.concat(command, ' '), run.code),
      vim.split(vim.trim(run.stderr or ''), '\n')
    )
  end
end

local function check_sidecar()
  health.start('acp-sidecar')
  local command = require('acp.config').get().cmd
  if type(command) == 'function' then
    health.info('started by a function of your own')
  elseif vim.fn.executable(command[1]) == 0 then
    health.error(('%q is not found'):format(command[1]), {
      'pip install acp-sidecar (or pipx, or uv tool)',
      "or name it: require('acp').setup({ cmd = { '/path/to/acp-sidecar', 'serve' } })",
    })
    return
  else
    check_version(command)
  end
  local client = require('acp.client').get()
  if not client then
    health.info('not started yet: the first :Acp command does it')
    return
  end
  health.ok(('runs as client %d in %s'):format(client.id, client.root_dir or 'no folder'))
  health.info(('%d buffers attached'):format(vim.tbl_count(client.attached_buffers)))
end

local function check_agents()
  health.start('Agents')
  local agents = require('acp.config').get().agents
  if not next(agents) then
    health.info('none of your own; `acp-sidecar agents` lists the known ones')
  end
  for name, agent in vim.spairs(agents) do
    if vim.fn.executable(vim.fn.expand(agent.command)) == 1 then
      health.ok(('%s: %s'):format(name, agent.command))
    else
      health.error(('%s: %q is not found'):format(name, agent.command), {
        'Give the full path as `command`',
      })
    end
  end
  for _, session in ipairs(require('acp.session').open()) do
    health.info(('session %s with %s: %s'):format(session.id, session.agent, session.status or 'idle'))
  end
end

local function check_review()
  health.start('Review of changes')
  local options = require('acp.config').get().review
  if vim.go.signcolumn == 'no' then
    health.warn("'signcolumn' is \"no\": the signs of changed lines are not seen", {
      ':set signcolumn=auto',
      'or review = { number_highlights = true }, which colours the line numbers',
    })
  else
    health.ok('signs show in the sign column')
  end
  if package.loaded['gitsigns'] and options.sign_priority > 6 then
    health.info('gitsigns is there: of two signs on a line the agent\'s comes first')
  end
  if options.code_lens then
    health.info('code lenses are on, and say what signs and lines say')
  end
  local taken = require('acp.keymaps').taken()
  if #taken > 0 then
    health.warn('keys of keymaps are mapped to something else: ' .. table.concat(taken, ', '), {
      "choose others: keymaps = { ['next-hunk'] = ']a' } (see :help acp-keymaps)",
    })
  end
  local files, hunks = require('acp.changes').files(), 0
  for _, file in ipairs(files) do
    hunks = hunks + #file.hunks
  end
  health.info(('%d hunks in %d files wait'):format(hunks, #files))
end

function M.check()
  check_neovim()
  check_sidecar()
  check_agents()
  check_review()
end

return M
