"""Starts a program with a controlling terminal of its own, as a person would, and hands on what comes out of it.

`{tty}` in its words is the path of that terminal.
"""
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    words = [word.replace("{tty}", os.ttyname(0)) for word in sys.argv[1:]]
    os.execvp(words[0], words)
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
