"""The texts of the reference values and of the golden file of the tokenizer. Written for this project."""

EN = "The cache is emptied every night at three. To keep an entry for longer, set keep_days in the settings file."
DE = "Der Zwischenspeicher wird jede Nacht um drei Uhr geleert. Wie lange ein Eintrag bleibt, steht in den Einstellungen."
PL = "Pamięć podręczna jest opróżniana co noc o trzeciej. Źródło błędu zapisuje się w dzienniku."
VI = "Bộ nhớ đệm được xóa lúc ba giờ sáng mỗi đêm. Muốn giữ lâu hơn, hãy đặt số ngày trong tệp cấu hình."
RU = "Кэш очищается каждую ночь в три часа. Срок хранения записи задаётся в файле настроек."
ZH = "缓存每天凌晨三点清空。要保留更长时间，请在设置文件中设置天数。"
CODE = 'func Open(path string) (*Store, error) {\n\tif path == "" {\n\t\treturn nil, errors.New("no path")\n\t}\n\treturn open(path)\n}'
TABLE = "| Plan | Price | Users |\n| --- | --- | --- |\n| Small | 9.50 € | 5 |\n| Large | 49.00 € | 100 |"
LONG = " ".join(f"Step {n}: open valve {n % 7 + 1}, wait {n * 3} seconds and note the pressure." for n in range(1, 60))
MIXED = " ".join([EN, DE, PL, VI, RU, ZH] * 4)

TEXTS = [
    ("query en", "how long are cache entries kept?"),
    ("query de", "Wann wird der Zwischenspeicher geleert?"),
    ("query pl", "kiedy opróżniana jest pamięć podręczna"),
    ("query vi", "Khi nào bộ nhớ đệm được xóa?"),
    ("query ru", "Когда очищается кэш?"),
    ("query zh", "缓存什么时候清空？"),
    ("query code", "errors.New no path"),
    ("query one word", "pressure"),
    ("query one letter", "x"),
    ("query number", "0x7f 404 1,234.56"),
    ("query empty", ""),
    ("query shouted", "WHY DOES IT NOT START???"),
    ("query unknown", "𓀀𓀁"),
    ("passage en", EN),
    ("passage de", DE),
    ("passage pl", PL),
    ("passage vi", VI),
    ("passage ru", RU),
    ("passage zh", ZH),
    ("passage code", CODE),
    ("passage table", TABLE),
    ("passage one word", "Valve"),
    ("passage empty", ""),
    ("passage spaces", " \t\n "),
    ("passage marks", "<s> </s> <pad> <unk> [CLS] ▁"),
    ("passage shell", "grep -rn 'keep_days' /etc/app | sort -u > /tmp/out && echo done"),
    ("passage en and de", EN + "\n\n" + DE),
    ("passage en, 8 tokens", "Open the valve."),
    ("passage 160 tokens", " ".join(LONG.split()[:100])),
    ("passage 512 tokens", LONG),
    ("passage 512 tokens, six languages", MIXED),
]

PAIRS = [
    ("en, holds", "When is the cache emptied?", "", EN),
    ("en, holds, title", "When is the cache emptied?", "Cache", EN),
    ("en, near", "Who may empty the cache?", "Cache", EN),
    ("en, other", "What is the boiling point of water?", "Cache", EN),
    ("en, how", "How do I keep an entry for longer?", "Settings", EN),
    ("de, holds", "Wann wird der Zwischenspeicher geleert?", "", DE),
    ("de, other", "Wie hoch ist der Eiffelturm?", "", DE),
    ("pl, holds", "O której opróżniana jest pamięć podręczna?", "", PL),
    ("pl, other", "Ile kosztuje bilet do Krakowa?", "", PL),
    ("vi, holds", "Bộ nhớ đệm được xóa lúc mấy giờ?", "", VI),
    ("vi, other", "Thủ đô của Việt Nam là gì?", "", VI),
    ("ru, holds", "Когда очищается кэш?", "", RU),
    ("ru, other", "Сколько стоит билет?", "", RU),
    ("zh, holds", "缓存什么时候清空？", "", ZH),
    ("zh, other", "谁写了这本书？", "", ZH),
    ("en over de", "When is the cache emptied?", "", DE),
    ("de over en", "Wann wird der Zwischenspeicher geleert?", "", EN),
    ("vi over en", "Bộ nhớ đệm được xóa lúc mấy giờ?", "", EN),
    ("zh over en", "缓存什么时候清空？", "", EN),
    ("code, holds", "What does Open return without a path?", "store.go", CODE),
    ("code, other", "How do I close the store?", "store.go", CODE),
    ("table, holds", "How much is the large plan?", "Prices", TABLE),
    ("table, other", "Is there a discount for schools?", "Prices", TABLE),
    ("one word", "valve", "", "Valve"),
    ("empty question", "", "", EN),
    ("empty passage", "When is the cache emptied?", "", ""),
    ("both empty", "", "", ""),
    ("marks", "<s> </s>", "<s>", "</s></s> The cache is emptied at three. <pad>"),
    ("160 tokens", "How long do I wait at step 6?", "Start", " ".join(LONG.split()[:90])),
    ("512 tokens", "How long do I wait at step 6?", "Start", LONG),
    ("512 tokens, long question and title", " ".join([EN] * 5), " ".join([DE] * 3), MIXED),
]
