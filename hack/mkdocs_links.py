"""A hook of MkDocs: pages may link to files of the repository that are not part of the site.

With repo_url in mkdocs.yml such a link leads there; without it, the page shows the file's path. A file that does not exist fails the build.
"""
import os
import re

from mkdocs.exceptions import PluginError

LINK = re.compile(r"\[([^\]\n]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, *, page, config, files):
    root = os.path.dirname(config.config_file_path)

    def outside(link):
        text, target, anchor = link[1], link[2], link[3] or ""
        path = os.path.normpath(os.path.join(os.path.dirname(page.file.abs_src_path), target))
        inside = os.path.relpath(path, config.docs_dir)
        if not inside.startswith((os.pardir, "man")):
            return link[0]
        if not os.path.exists(path):
            raise PluginError(f"{page.file.src_uri}: there is no {target}")
        name = os.path.relpath(path, root)
        if config.repo_url:
            return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{name}{anchor})"
        return f"`{name}`" if name.endswith(text.strip("`")) else f"{text} (`{name}`)"

    return LINK.sub(outside, markdown)
