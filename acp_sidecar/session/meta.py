"""How ``_meta`` is patched (ACP v2, "Extensibility", Metadata Patches)."""

from __future__ import annotations

from acp_sidecar.acp.model import JsonObject


def patched_meta(stored: JsonObject | None, patch: JsonObject | None) -> JsonObject | None:
    """``stored`` after a patch: None clears it; of an object each key replaces the stored one,
    and null takes the key away. What is empty in the end is None.
    """
    if patch is None:
        return None
    laid = {**(stored or {}), **patch}
    return {key: value for key, value in laid.items() if value is not None} or None
