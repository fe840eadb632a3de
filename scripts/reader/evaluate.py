"""A check on XQuAD: the same questions and sentences in several languages. Nothing of it is in the data."""

from inputs import MAX_QUERY, load_json


def check(model, sequences, path, embed):
    """Prints how often the sentence with the answer comes first, among those of the language and the English ones.

    The file has {language: {"s": sentences, "q": [[question, number of the sentence, …], …]}}, with the questions in
    one order.
    """
    found = {}
    for language, texts in load_json(path).items():
        questions = sequences.batch([question[0] for question in texts["q"]], MAX_QUERY)
        found[language] = (
            embed(model, [sequences.search_query(ids) for ids in questions]),
            embed(model, [sequences.search_passage([], ids) for ids in sequences.batch(texts["s"], 250)]),
            [question[1] for question in texts["q"]],
        )
    for language, (questions, _, _) in found.items():
        shares = []
        for other in (language, "en"):
            _, sentences, right = found[other]
            first = (questions @ sentences.T).argmax(1).tolist()
            shares.append(sum(map(int.__eq__, first, right)) / len(right))
        print(f"XQuAD {language}: {len(questions)} questions, own language {shares[0]:.3f}, English {shares[1]:.3f}")
