# What main.go does, with LangGraph: pip install langgraph langgraph-checkpoint-sqlite, then python blocks.py
import faults
import more
import people
import shapes
import streams
import threads

for blocks in [shapes, people, faults, threads, streams, more]:
    for block in blocks.BLOCKS:
        print(*block())
