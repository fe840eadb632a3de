"""The graph of the tests, for LangGraph's own server."""

import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict, total=False):
    messages: Annotated[list, operator.add]
    item: str
    price: int
    paid: bool


async def price(order):
    get_stream_writer()({"seen": order["item"]})
    if order["item"] == "slow":
        await asyncio.sleep(5)
    if order["item"] == "bad":
        raise ValueError("no such item")
    return {"price": len(order["item"])}


def pay(order):
    paid = interrupt({"pay": order["price"]})
    message = {"id": "m-" + order["item"], "type": "ai", "content": "it is paid" if paid else "kept"}
    return {"paid": bool(paid), "messages": [message]}


graph = StateGraph(Order)
graph.add_node("price", price)
graph.add_node("pay", pay)
graph.add_edge(START, "price")
graph.add_edge("price", "pay")
graph.add_edge("pay", END)
shop = graph.compile()
