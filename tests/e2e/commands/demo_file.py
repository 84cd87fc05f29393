"""The file that the demo agent works on, before and after."""

from __future__ import annotations

GREETING = '''"""Greets people by name."""

PEOPLE = ("Ada", "Grace", "Linus")


def greet(name):
    return "Hello " + name
'''
GREETED = GREETING.replace('"Hello " + name', 'f"Good morning, {name}!"').replace(
    '"Ada", "Grace"', '"Ada", "Barbara", "Grace"'
)
