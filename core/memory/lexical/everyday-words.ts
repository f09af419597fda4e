/**
 * English words that turn up in talk about anything: who uses one of them has said little of what it is about. Stop words
 * say nothing, and are in a list of their own.
 */
export const EVERYDAY_WORDS: readonly string[] =
  `able about absolutely actually add again ago agree allow almost alone already alright also always amazing another answer
  anybody anymore anyone anything anyway apart appear around ask away back bad basically become begin believe best better
  big bit break bring build call cannot care carry case certain certainly change check choose clear close come common
  compare complete consider continue correct could course create current day days deal decide definitely depend describe
  detail different difference difficult done easy either else end enough especially etc even evening ever every everybody
  everyone everything exactly example excellent except explain extra fact fail famous far fast feel few find fine finish
  first fit five fix follow form forget found four free full fun further future general generally get give glad go going
  gone gonna good got great guess guy hand happen happy hard hate hear hello help hence hey hi high hmm hold hope hour
  however huge idea imagine important include indeed instead interest interesting job keep kind know known large last late
  later learn least leave left less let life like likely list listen little live long longer look lose lot love low make
  manage many matter maybe mean meant mention might mind minute miss moment month more morning most move much must name
  near necessary need never new next nice night nobody normal nothing notice number obviously often oh ok okay old one ones
  open opinion order others otherwise ought part people perfect perhaps person place plan play please point possible pretty
  prefer prepare probably problem provide put question quick quickly quite rather read ready real really reason recent
  recommend remember remove reply result return rewrite right room round run save say second see seem send sense sentence
  seriously set several shall short shorter should show similar simple simply since single six small somebody somehow
  someone something sometimes somewhere soon sorry sort sound speak start state stay step still stop strange stuff such
  suggest summarise summarize sure take talk tell ten text thank thanks thing think though thought three time times tiny
  today together tomorrow tonight total totally touch translate tried true try turn twenty two type understand unless use
  useful useless usual usually various via wait walk wanna want watch way week weird welcome well went whatever whether whole
  whose wish within without wonder word work world worry would write wrong yeah year yes yesterday yet`.split(/\s+/);

/** The same, and the stop words, of those who write in other languages; without accents, as terms have none. */
export const FOREIGN_EVERYDAY_WORDS: readonly string[] =
  `ich du er sie es wir ihr mich mir dich dir uns euch mein meine meinen meiner dein deine sein seine der die das den dem
  des ein eine einen einem einer kein keine und oder aber wenn weil dass als wie was wer wo wann warum welche welcher welches
  ist sind war waren bin bist hat habe haben hatte wird werden kann kannst konnen muss soll will mag mochte bitte danke ja
  nein nicht nur noch auch schon sehr so zu zum zur im in am an auf aus bei mit nach von vor fur uber unter um ohne gegen
  heute morgen gestern jetzt hier da dann man mal gut gibt geht machen mache macht sag sagen
  je tu il elle nous vous ils elles moi toi mon ma mes ton ta tes son sa ses le la les un une des du de et ou mais si que
  qui quoi quel quelle quand comment pourquoi est sont suis ai as avons avez ont pas ne plus avec sans pour par dans sur
  sous ce cette ces oui non merci bonjour faire fait peux peut veux dis aujourd hui demain
  yo ella nosotros ellos mi tus su sus el los las uno unos una unas del y o pero que quien cual cuando como donde porque es
  son soy eres esta estan estoy tengo tiene hay no con sin para por en entre sobre muy mas ya si gracias hola hacer hace
  puedo puede quiero hoy manana
  io lui lei noi voi loro mio mia tuo tua suo sua lo gli uno ed ma che chi quale quando come dove perche sono sei siamo ho
  hai abbiamo hanno non con senza per tra fra su molto piu gia si grazie ciao fare posso puoi voglio oggi domani`.split(
    /\s+/,
  );
