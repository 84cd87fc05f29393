---The Agent Client Protocol in Neovim, through the acp-sidecar language server.
---
---Thin on purpose: these modules draw and pass on; the sidecar decides.
local M = {}

---Takes the user's settings. Needed only to change one: everything works without it.
---@param options? acp.Options
function M.setup(options)
  require('acp.config').set(options)
  require('acp.keymaps').apply(require('acp.config').get().keymaps)
end

---Starts the sidecar, where it does not run yet, and attaches every file buffer.
function M.start()
  require('acp.client').start()
end

---Opens a session. See |:Acp-new|.
---@param argument? { agent?: string, cwd?: string }
function M.new(argument)
  require('acp.session').new(argument)
end

---Sends a prompt; opens a session first where there is none.
---@param text string
---@param context? { uri: string, range?: lsp.Range }[]
function M.prompt(text, context)
  vim.validate('text', text, 'string')
  require('acp.session').prompt(text, context)
end

---A short text on the current session, empty where there is none.
---@return string
function M.statusline()
  return require('acp.statusline').get()
end

return M
