"""Answers the questions on its standard input, a JSON string a line, with LangGraph's create_react_agent."""

import json
import os
import re
import sys

from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

bench = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tasks.json")))


def words(text):
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def search(query):
    scored = [(len(words(query) & words(d)), i) for i, d in enumerate(bench["documents"])]
    best = sorted((s for s in scored if s[0] > 0), key=lambda s: (-s[0], s[1]))[:3]
    return "\n".join(bench["documents"][i] for _, i in best) or "Nothing was found. Try other words."


def calculate(a, operation, b):
    result = {"add": lambda: a + b, "subtract": lambda: a - b, "multiply": lambda: a * b, "divide": lambda: a / b}[operation]()
    return f"{result:.10g}"


def clock():
    return bench["now"]


chat = ChatOpenAI(model=os.environ["SMART_LLM_MODEL"], base_url=os.environ["OPENAI_BASE_URL"], api_key="none", temperature=0,
                  max_tokens=300, timeout=600, max_retries=0)
run = {"search": search, "calculate": calculate, "clock": clock}
tools = [StructuredTool.from_function(run[t["name"]], name=t["name"], description=t["description"], args_schema=t["schema"]) for t in bench["tools"]]
agent = create_react_agent(chat, tools, prompt=bench["system"])
for line in sys.stdin:
    try:
        end = agent.invoke({"messages": [("user", json.loads(line))]}, {"recursion_limit": 21})
        calls = sum(isinstance(m, AIMessage) for m in end["messages"])
        print(json.dumps({"reply": end["messages"][-1].text, "steps": calls}), flush=True)
    except Exception as e:  # a failed task is a result, too
        print(json.dumps({"reply": "", "error": f"{type(e).__name__}: {e}"[:300]}), flush=True)
