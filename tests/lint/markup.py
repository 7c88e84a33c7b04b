"""Forbids code in the report page that turns text into markup, code or addresses. Runs in the root
of the project."""
import re
from pathlib import Path

from common import finish, prove

FORBIDDEN = {
    r'\b(inner|outer)HTML\b': 'markup from text',
    r'\binsertAdjacentHTML\b': 'markup from text',
    r'\bdocument\.write(ln)?\b': 'markup from text',
    r'\bDOMParser\b|\bcreateContextualFragment\b': 'markup from text',
    r'\beval\s*\(|\bnew Function\b': 'code from text',
    r'\bsetTimeout\s*\(\s*["\'`]|\bsetInterval\s*\(\s*["\'`]': 'code from text',
    r'\bsetAttribute\(\s*["\'](on\w+|style)["\']': 'an attribute that the policy blocks',
    r'\bfetch\s*\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b|\bsendBeacon\b': 'a request',
    r'https?://': 'an address of the web',
}
# Requests to the page's own server; the content security policy allows them only in a served page.
ALLOWED = {('tools/web/src/served.ts', 'a request'),
           # reads the page's own markup, to save it
           ('tools/web/src/timeline/flags.ts', 'markup from text'),
           # a click opens a tab, and the page itself hands it the visible window
           ('tools/web/src/timeline/perfetto.ts', 'an address of the web')}


def problems_of(name, text):
    return [f'{name}:{text.count(chr(10), 0, m.start()) + 1}: {what}: {m[0]}'
            for pattern, what in FORBIDDEN.items() if (name, what) not in ALLOWED
            for m in re.finditer(pattern, text)]


prove(problems_of('bad.ts', 'a.innerHTML = b;\nfetch("x")\n'), ['markup from text', 'a request'])
files = sorted(p for p in Path('tools/web').rglob('*')
               if p.suffix in ('.ts', '.css') and 'node_modules' not in p.parts)
finish([problem for path in files for problem in problems_of(str(path), path.read_text())],
       'files of the page', len(files))
