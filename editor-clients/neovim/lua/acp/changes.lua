---What waits for review, as the sidecar told it last, over all sessions.
---
---Lines are 0-based here, as in `acp/changes`.
local M = {}

---@alias acp.HunkKind 'added'|'changed'|'removed'|'conflict'|'proposed'

---@class acp.Span
---@field start integer
---@field lines integer

---@class acp.Change A file, as `acp/changes` has it.
---@field uri string
---@field status 'modified'|'created'|'deleted'|'renamed'
---@field oldUri? string
---@field binary boolean
---@field hunks table[]
---@field proposed? table[]

---@class acp.Hunk
---@field id string
---@field session string
---@field agent string
---@field name string The file's.
---@field uri string
---@field kind acp.HunkKind
---@field conflict boolean
---@field proposed boolean
---@field first integer Its first line in the file as it is now.
---@field count integer How many lines there; 0 where lines were removed, or are to be added.
---@field before acp.Span
---@field after acp.Span
---@field text? string What would come, of a proposed hunk.
---@field status string

---@class acp.ChangedFile
---@field name string
---@field uri string
---@field entries { session: acp.Session, change: acp.Change }[]
---@field hunks acp.Hunk[] From top to bottom.

---@param hunk table
---@param is_proposed boolean
---@return acp.HunkKind
local function kind_of(hunk, is_proposed)
  if hunk.state == 'conflict' then
    return 'conflict'
  elseif is_proposed then
    return 'proposed'
  elseif hunk.before.lines == 0 and hunk.after.lines > 0 then
    return 'added'
  elseif hunk.after.lines == 0 and hunk.before.lines > 0 then
    return 'removed'
  end
  return 'changed'
end

---@param session acp.Session
---@param change acp.Change
---@param hunk table
---@param is_proposed boolean
---@return acp.Hunk
local function hunk_of(session, change, hunk, is_proposed)
  local now = is_proposed and hunk.before or hunk.after
  return {
    id = hunk.id,
    session = session.id,
    agent = session.agent,
    name = vim.uri_to_fname(change.uri),
    uri = change.uri,
    kind = kind_of(hunk, is_proposed),
    conflict = hunk.state == 'conflict',
    proposed = is_proposed,
    first = now.start,
    count = now.lines,
    before = hunk.before,
    after = hunk.after,
    text = hunk.text,
    status = change.status,
  }
end

---@param file acp.ChangedFile
---@param session acp.Session
---@param change acp.Change
local function add(file, session, change)
  file.entries[#file.entries + 1] = { session = session, change = change }
  for _, hunk in ipairs(change.hunks or {}) do
    file.hunks[#file.hunks + 1] = hunk_of(session, change, hunk, false)
  end
  for _, hunk in ipairs(change.proposed or {}) do
    file.hunks[#file.hunks + 1] = hunk_of(session, change, hunk, true)
  end
end

---@type acp.ChangedFile[]?
local listed
---@type table<string, acp.ChangedFile>
local by_name = {}
---@type table<string, acp.ChangedFile> By the name without links.
local by_real = {}

---@type table<string, string> Looked up once: there may be thousands, at every key typed.
local reals = {}

---@param name string
---@return string
local function real(name)
  -- A file that is not there yet may be there the next time.
  local known = reals[name] or vim.uv.fs_realpath(name)
  reals[name] = known
  return known or name
end

---The sidecar told something else.
function M.forget()
  listed = nil
end

---The changed files of all sessions, in the order they were told in.
---@return acp.ChangedFile[]
function M.files()
  if listed then
    return listed
  end
  listed, by_name, by_real = {}, {}, {}
  for _, session in ipairs(require('acp.session').all()) do
    for _, change in ipairs(session.changes) do
      local name = vim.uri_to_fname(change.uri)
      if not by_name[name] then
        by_name[name] = { name = name, uri = change.uri, entries = {}, hunks = {} }
        listed[#listed + 1] = by_name[name]
      end
      add(by_name[name], session, change)
    end
  end
  for _, file in ipairs(listed) do
    by_real[real(file.name)] = file
    table.sort(file.hunks, function(one, other)
      if one.first ~= other.first then
        return one.first < other.first
      elseif one.count ~= other.count then
        return one.count < other.count
      end
      return one.id < other.id
    end)
  end
  return listed
end

---A changed file by its name, or by another one that leads to it over a link.
---@param name string
---@return acp.ChangedFile?
function M.of(name)
  if #M.files() == 0 then
    return nil
  end
  return by_name[name] or by_real[vim.uv.fs_realpath(name) or name]
end

---Whether a file is not there, or not yet: there is nothing to jump to.
---@param file acp.ChangedFile
---@return boolean
function M.is_deleted(file)
  return vim.iter(file.entries):all(function(entry)
    return entry.change.status == 'deleted'
  end)
end

---What happened to the file as a whole, in a few words; nil where only lines of it changed.
---@param file acp.ChangedFile
---@return string?
function M.note(file)
  local notes = {}
  for _, entry in ipairs(file.entries) do
    local change, agent = entry.change, entry.session.agent
    local note
    if change.status == 'renamed' then
      local old = change.oldUri and vim.uri_to_fname(change.oldUri) or '?'
      note = ('moved here from %s by %s'):format(vim.fn.fnamemodify(old, ':~:.'), agent)
    elseif change.status == 'created' and #(change.hunks or {}) == 0 then
      note = ('%s would like to make this file'):format(agent)
    elseif change.status ~= 'modified' then
      note = ('%s by %s'):format(change.status, agent)
    end
    if change.binary then
      note = (note or ('changed by ' .. agent)) .. ' (not a text)'
    end
    notes[#notes + 1] = note
  end
  return notes[1] and table.concat(notes, '; ') or nil
end

---Lines that went and came.
---@param hunk acp.Hunk
---@return string
function M.counts(hunk)
  return ('−%d +%d'):format(hunk.before.lines, hunk.after.lines)
end

return M
