local M = {}

---Defaults only: a colour scheme or the user may define any of them.
local LINKS = {
  AcpUser = 'Title',
  AcpAgent = 'Function',
  AcpThought = 'Comment',
  AcpPending = 'Comment',
  AcpRunning = 'DiagnosticInfo',
  AcpCompleted = 'DiagnosticOk',
  AcpFailed = 'DiagnosticError',
  AcpDetail = 'Comment',
  AcpPlan = 'Identifier',
  AcpNotice = 'DiagnosticWarn',
  AcpQuestion = 'Question',
  AcpOption = 'Keyword',
  AcpDiffAdd = 'Added',
  AcpDiffDelete = 'Removed',
  AcpDiffHunk = 'Changed',
  AcpReveal = 'CursorLine',
  AcpRevealSign = 'DiagnosticInfo',
  AcpRevealBar = 'WinBar',
  AcpSignAdded = 'Added',
  AcpSignChanged = 'Changed',
  AcpSignRemoved = 'Removed',
  AcpSignConflict = 'DiagnosticError',
  AcpSignProposed = 'DiagnosticWarn',
  AcpNewLine = 'DiffAdd',
  AcpOldLine = 'DiffDelete',
  AcpNewText = 'DiffText',
  AcpOldText = 'DiffText',
  AcpProposedLine = 'DiffText',
  AcpRefusedLine = 'DiffChange',
  AcpNote = 'Comment',
}

function M.define()
  for name, link in pairs(LINKS) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

return M
