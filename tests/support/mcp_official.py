"""The official client of MCP on ``heatline mcp``: python mcp_official.py HEATLINE FOLDER MODE.

Runs in an environment of its own (.test-env/mcp).  Finds the hot line of app.py, which it has
never seen, in three calls, and prints what it found as JSON.
"""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters


async def main(heatline: str, folder: str, mode: str) -> None:
    parameters = StdioServerParameters(command=heatline, args=["mcp"], cwd=folder)
    async with Client(parameters, mode=mode) as client:
        tools = (await client.list_tools()).tools
        run = await client.call_tool("profile_run", {"command": ["app.py"]})
        hot = await client.call_tool(
            "hot_lines", {"profile": run.structured_content["profile"], "top": 1}
        )
        line = hot.structured_content["lines"][0]
        source = await client.call_tool(
            "source",
            {"profile": run.structured_content["profile"], "at": f"{line['file']}:{line['line']}"},
        )
        rows = {row["line"]: row for row in source.structured_content["lines"]}
        refused = await client.call_tool("source", {"profile": "run-99", "at": "app.py"})
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "server": client.server_info.name,
                    "tools": [tool.name for tool in tools],
                    "schemas": [tool.input_schema for tool in tools],
                    "line": line,
                    "shown": rows[line["line"]],
                    "is_refused": refused.is_error,
                }
            )
        )


anyio.run(main, *sys.argv[1:])
