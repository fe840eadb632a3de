package text

import (
	"strings"
	"sync"
)

// functionWords are the function words of languages in Latin letters, and of
// Russian and Arabic: what is no topic by itself, and what tells a language.
// English, Polish and Vietnamese have lists of their own in stop.go, which say
// what is no topic; the English words here only tell the language.
//
//nolint:gochecknoglobals,misspell // a constant that Go has no syntax for; not English
var functionWords = map[string]string{
	"en": `the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one were all
we when there can more no if out so what up about who get has her she would make like him into them some could these other than
then do how its your our you i my their will been did does why where after only most must should while because between through
over before under each any such may also using use used`,
	"de": `der die das den dem des ein eine einen einem einer eines und oder aber auch nicht kein keine keinen ist sind war waren
wird werden wurde wurden worden hat haben hatte hatten habe bin bist sein seine seinen seiner seinem ich du er sie es wir ihr mich
dich sich uns euch ihm ihn ihnen mein meine meinen meiner dein deine unser unsere ihre ihren ihrer ihrem in im an am auf aus bei
beim mit nach von vom zu zum zur für über unter vor durch gegen ohne um bis seit zwischen wegen während wie was wer wo wann warum
welche welcher welches welchen wenn weil dass ob als denn sondern damit so sehr nur noch schon immer mehr man kann können könnte
muss müssen soll sollen sollte darf dürfen will wollen möchte dies diese dieser dieses diesen diesem jeder jede jedes alle allem
allen hier da dort dann nun doch mal gibt etwas nichts bereits jedoch sowie`,
	"fr": `le la les l un une des du de d et ou mais donc or ni car que qu qui quoi dont où ce c cet cette ces cela ça se s si sa son
ses leur leurs mon ma mes ton ta tes notre nos votre vos je j tu il elle on nous vous ils elles me m te t lui eux en y à au aux dans
par pour sur sous avec sans entre vers chez depuis pendant avant après contre comme est sont était étaient être été suis es sommes
êtes ai as a avons avez ont avait avaient avoir eu fait faire peut peuvent pouvez doit doivent ne n pas plus moins très trop aussi
bien tout tous toute toutes même quel quelle quels quelles comment pourquoi quand combien lorsque lorsqu puisque puis alors ainsi
jusqu quelqu aucun aucune autre autres ici`,
	"es": `el la los las lo un una unos unas de del al a y e o u pero sino ni que qué quien quién quienes cual cuál cuales cuáles cuyo
cuya donde dónde cuando cuándo como cómo cuanto cuánto cuántos cuánta cuántas por para con sin sobre entre hasta desde hacia en ante
bajo tras según durante se su sus mi mis tu tus nuestro nuestra nuestros nuestras yo él ella ellos ellas nosotros usted ustedes me
te le les nos os es son era eran fue fueron ser sido está están estaba estar he ha han había haber hay puede pueden puedo debe deben
no sí si más menos muy ya también tan tanto todo toda todos todas otro otra otros otras este esta estos estas esto ese esa esos esas
eso aquel aquella porque pues aunque mientras cada mismo misma`,
	"it": `il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle dell al allo alla ai agli alle
all dal dalla dai dagli dalle dall nel nello nella nei negli nelle nell sul sulla sui sulle sull e ed o od ma se che chi cui non né
come dove quando perché quanto quanta quanti quante quale quali cosa cos è sono era erano essere stato stata stati state sia ho hai
ha hanno aveva avere può possono posso deve devono si ci vi ne mi ti lo gli mio mia miei mie tuo tua suo sua suoi sue loro nostro
nostra questo questa questi queste quello quella quelli quelle quell io tu lui lei noi voi più meno molto anche ancora già così tutto
tutta tutti tutte altro altra altri altre ogni poi dopo prima senza durante mentre però quindi`,
	"pt": `o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela pelos pelas para com sem sobre entre
até desde e ou mas nem que quê quem qual quais onde quando como quanto quantos quanta quantas porque porquê não sim se seu sua seus
suas meu minha meus minhas nosso nossa eu tu ele ela eles elas nós você vocês me te lhe lhes é são era eram foi foram ser sido está
estão estava estar tem têm tinha ter há pode podem posso deve devem mais menos muito muita também já só ainda tão todo toda todos
todas outro outra outros outras este esta estes estas isto esse essa esses essas isso aquele aquela cada mesmo mesma num numa depois
antes durante então`,
	"nl": `de het een en of maar want dus dat die dit deze wie wat waar wanneer waarom hoe welke welk ik jij je u hij zij ze wij we
jullie hen hun haar hem mij me mijn jouw uw zijn ons onze is was waren ben bent wordt worden werd werden geworden heeft hebben had
hadden heb kan kunnen kon moet moeten mag mogen zal zullen zou zouden wil willen niet geen wel ook nog al meer zeer heel te van in
op aan met bij voor door naar om uit over onder tussen tegen zonder tot als dan toen omdat hoewel er hier daar nu alleen elk elke
alle andere ander veel weinig iets niets zich zelf doen via na tijdens`,
	"sv": `och att det som en ett på är av för med den till i om inte har de var från han hon vi ni jag du man sig sin sitt sina kan
ska skall skulle kunde måste får blir blev bli vara varit hade ha när hur vad vem vilken vilket vilka varför där här då så men eller
samt utan under över mellan efter före genom mot hos vid åt ur också bara mycket mer mest alla allt andra annan annat denna detta
dessa någon något några ingen inget inga min mitt mina din ditt dina vår vårt våra er ert deras hans hennes dess än nu redan sedan
innan eftersom`,
	"da": `og at det der som en et på er af for med den til i om ikke har de var fra han hun vi jeg du man sig sin sit sine kan skal
skulle kunne må får bliver blev blive være været havde have når hvordan hvad hvem hvilken hvilket hvilke hvorfor hvor her så men
eller samt uden under over mellem efter før gennem mod hos ved ud også kun meget mere mest alle alt andre anden andet denne dette
disse nogen noget nogle ingen intet min mit mine din dit dine vores jeres deres hans hendes dens dets end nu allerede siden fordi
ad op ned mig dig os jer dem`,
	"no": `og at det som en ei et på er av for med den til i om ikke har de var fra han hun vi jeg du man seg sin sitt sine kan skal
skulle kunne må får blir ble bli være vært hadde ha når hvordan hva hvem hvilken hvilket hvilke hvorfor hvor her der så men eller
samt uten under over mellom etter før gjennom mot hos ved ut også bare mye mer mest alle alt andre annen annet denne dette disse
noen noe ingen intet min mitt mine din ditt dine vår vårt våre deres hans hennes dens dets enn nå allerede siden fordi opp ned meg
deg oss dere dem kun`,
	"fi": `ja on ei ole oli olla ovat olivat että se ne sen sitä siitä siinä siihen niiden niitä tämä tämän tätä tässä tästä nämä
näiden tuo joka jonka jota jossa josta johon jotka joiden mikä mitä minkä missä mistä mihin miten miksi milloin kuka ketä kun kuin
jos mutta tai sekä vaan vain myös niin nyt vielä jo kaikki kaikkien minä sinä hän me te he minun sinun hänen meidän teidän heidän
voi voivat voidaan pitää tulee kanssa ilman ennen jälkeen aikana välillä koska eli sekä kuinka monta joko eikä et en emme ette eivät
hyvin erittäin enemmän`,
	"hu": `a az egy és vagy de hogy nem is ez azt ezt ezek azok ami aki amely amelyek akik amit mit mi ki hol mikor miért hogyan
melyik hány mennyi van vannak volt voltak lesz lenne lehet kell ha mert mint még már csak meg el fel le be ki én te ő mi ti ők nekem
neki velem minden mind más ott itt majd most nagyon több után előtt között alatt felett mellett nélkül szerint által vele nincs
sem se pedig illetve valamint ennek annak ebben abban ehhez ahhoz erre arra ezért azért`,
	"ro": `și în la de cu pe pentru din prin după până fără între către peste sub este sunt era erau fost fi va vor fie a al ai ale o
un una unei unui niște care ce cine unde când cum cât câte câți câtă de ce dacă că să nu mai foarte sau dar ci iar ori eu tu el ea
noi voi ei ele meu mea mei mele tău ta său sa lui lor îi îl le se își mă te ne vă am ai are avem aveți au poate pot trebuie acest
această acești aceste acesta aceasta acela aceea acel acea toate toți tot orice fiecare alt altă alte alți doar numai și-a s-a
astfel deci`,
	"tr": `ve bir bu şu o da de ile için gibi kadar daha en çok az ne nasıl neden niçin nerede nereye nereden kim kimin hangi kaç
değil var yok mı mi mu mü ki ya veya ama fakat ancak çünkü eğer ise her hiç bazı tüm bütün ben sen biz siz onlar benim senin onun
bizim sizin onların bana sana ona bize size onlara beni seni onu olarak olan olduğu oldu olur olması sonra önce üzerinde altında
arasında içinde göre doğru karşı diye şey böyle şöyle öyle hem sadece bile artık`,
	"cs": `a aby ale ani ano až bez bude budou by byl byla bylo byli být co což či další do ho i já jak jaká jaké jaký jako je jeho
její jejich jen jenž ještě ji jich jsem jsme jsou jste k kde kdo kdy když která které který kteří ke ku má mají mezi mi mně mohou
můj může můžete na nad nebo není než ni nic o od on ona oni pak po pod podle pokud pro proč proto protože první při před s se si
svůj ta tak také tato té ten tento této tím to tohoto toto tu ty u už v ve však vy z za ze že kolik musí`,
	"pl": `i w na z do się nie to jest że o jak po co tak za od ale czy przez dla już tylko jego jej ich który która które którzy
których którym być był była było były będzie może można oraz lub albo gdy gdzie kiedy dlaczego przy bez pod nad przed między ten ta
te tego tej tych tym są ma mają mam aby żeby jeśli jeżeli także też więc u we ze ku ani oraz ponieważ`,
	"ru": `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня еще ещё нет о
из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего ей может они тут
где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому этого какой
какая какие какое ним здесь этом один почти мой моя тем чтобы нее сейчас были куда зачем всех никогда можно при наконец два об
другой хоть после над больше тот через эти нас про всего них много разве эту свою этой перед иногда лучше чуть том нельзя такой им
более всегда между это эта как-то сколько почему нужно`,
	"ar": `في من إلى على عن مع هذا هذه ذلك تلك التي الذي الذين و أو ثم لكن ما ماذا هل كيف متى أين لماذا لا لم لن ليس إن أن كان
كانت يكون هو هي هم نحن أنا أنت كل بعض غير بعد قبل عند بين حتى منذ خلال قد إذا كما أي لقد وقد وهو وهي عليه عليها فيه فيها به بها له
لها`,
}

// stopSets are functionWords, made ready once.
//
//nolint:gochecknoglobals // as above
var stopSets = sync.OnceValue(func() map[string]map[string]bool {
	out := make(map[string]map[string]bool, len(functionWords))
	for lang, words := range functionWords {
		set := make(map[string]bool)
		for w := range strings.FieldsSeq(words) {
			set[lower(w)] = true
		}
		out[lang] = set
	}
	return out
})
