// A year of conversations with one person: facts, dates, corrections and plans among small talk, and questions about them in
// other words. Small talk is chosen by a seed, everything else is as it was written.

import { seededBelow } from "../tests/kit/seeded.ts";
import { type EvalSet, judge } from "./eval-set.ts";

type Exchange = readonly [said: string, replied: string, ...questions: string[]];
type Talk = { readonly day: string; readonly exchanges: readonly Exchange[] };

const TALKS: readonly Talk[] = [
  {
    day: "12 January 2026",
    exchanges: [
      [
        "I moved to Lindenstrasse 14 last week, third floor.",
        "Noted. How is the new flat?",
        "what is my address?",
        "which floor do I live on?",
      ],
      [
        "The landlord is Mr. Petrov, he only answers the phone in the evening.",
        "Good to know when to call him.",
        "when can I reach my landlord?",
        "name of the landlord",
      ],
      [
        "Rent is 1,240 euros, due on the third of each month.",
        "I will keep that in mind.",
        "how much do I pay for the apartment?",
        "when is the rent due?",
      ],
      [
        "The key for the cellar hangs behind the fridge.",
        "An unusual place, but memorable.",
        "where did I put the cellar key?",
      ],
      ["My sister Clara gave me a ficus for the new place.", "Water it sparingly in winter.", "who gave me the plant?"],
    ],
  },
  {
    day: "3 February 2026",
    exchanges: [
      [
        "I have a dentist appointment on the 19th at half past eight.",
        "With which practice?",
        "when do I have to see the dentist?",
      ],
      [
        "Doctor Yilmaz, near the station. She fixed my molar two years ago.",
        "Then you are in known hands.",
        "which dentist treats me?",
      ],
      [
        "Please remember that I am allergic to penicillin.",
        "I will. That is important for any prescription.",
        "which medicine must I not take?",
        "what am I allergic to?",
      ],
      ["My blood type is A negative by the way.", "Rare enough to note.", "what blood group do I have?"],
      [
        "I started running on Sundays, five kilometres along the canal.",
        "A good habit; shoes matter more than speed.",
        "where do I go running?",
      ],
    ],
  },
  {
    day: "27 February 2026",
    exchanges: [
      [
        "We decided to use Postgres for the inventory service.",
        "Was SQLite considered?",
        "which database did we choose for the inventory?",
      ],
      [
        "Yes, but two writers at once were too much for it.",
        "Then a server makes sense.",
        "why did we not take SQLite?",
      ],
      [
        "The staging server is called heron, production is called osprey.",
        "Birds, easy to tell apart.",
        "what is the name of the production machine?",
      ],
      ["Deployments happen on Tuesdays, never on Fridays.", "A wise rule.", "on which weekday do we deploy?"],
      [
        "Tomasz owns the billing module, ask him before touching it.",
        "I will remind you.",
        "who is responsible for billing?",
      ],
    ],
  },
  {
    day: "14 March 2026",
    exchanges: [
      [
        "For Mum's birthday I want to bake the walnut cake from grandmother's book.",
        "How many guests?",
        "which cake did I plan for my mother's birthday?",
      ],
      [
        "Eleven people, and uncle Jozef eats no eggs.",
        "Flaxseed can replace them.",
        "who cannot eat eggs?",
        "how many people come to the birthday party?",
      ],
      [
        "The oven of the new flat runs twenty degrees too hot.",
        "Then set it lower and check early.",
        "what is wrong with the oven?",
      ],
      ["Mum was born on 22 March 1958.", "So it is her sixty-eighth.", "when was my mother born?"],
      [
        "As a present I ordered the blue pottery bowl from Delft.",
        "She will like that.",
        "what gift did I buy for mum?",
      ],
    ],
  },
  {
    day: "8 April 2026",
    exchanges: [
      [
        "I booked the train to Ljubljana for 2 May, coach 21, seat 46.",
        "Window or aisle?",
        "which seat do I have on the train?",
        "when do I travel to Slovenia?",
      ],
      [
        "Window. We stay at the guest house Pri Mraku for four nights.",
        "Breakfast included?",
        "where do we sleep in Ljubljana?",
      ],
      [
        "My passport expires in November, I must renew it before.",
        "Appointments fill up, go early.",
        "when does my passport run out?",
      ],
      ["The suitcase lock opens with 407.", "I will not tell anyone.", "what is the combination of the suitcase?"],
      [
        "Clara comes along and wants to see the caves at Postojna.",
        "Bring a jacket, it is ten degrees inside.",
        "what does my sister want to visit?",
      ],
    ],
  },
  {
    day: "21 April 2026",
    exchanges: [
      [
        "Correction: Deployments moved to Wednesdays since the new release train.",
        "Understood, Wednesdays it is.",
        "what day do we ship releases now?",
      ],
      [
        "The memory leak was in the thumbnail cache, it never evicted anything.",
        "Did a limit fix it?",
        "what caused the memory leak?",
      ],
      [
        "Yes, two hundred entries at most and it stays flat.",
        "A nice graph, then.",
        "how large may the thumbnail cache get?",
      ],
      ["Priya joins the team on the first of June as a tester.", "Who shows her around?", "who starts in June?"],
      [
        "The API key of the weather vendor is rotated every ninety days.",
        "The next time is in July.",
        "how often do we rotate the vendor's key?",
      ],
    ],
  },
  {
    day: "10 May 2026",
    exchanges: [
      [
        "The bike shop said the rear derailleur is bent, repair costs 85 euros.",
        "Cheaper than a new bike.",
        "how much is the bicycle repair?",
      ],
      ["I can fetch it on Thursday after four.", "I will remind you then.", "when can I pick up my bike?"],
      ["My helmet size is 58 centimetres.", "Medium in most brands.", "which size is my helmet?"],
      [
        "I prefer green tea in the morning and no coffee after noon.",
        "Caffeine lingers.",
        "what do I like to drink in the morning?",
      ],
      [
        "The neighbours' cat is called Pixel and visits through the balcony.",
        "Cats choose their own homes.",
        "what is the name of the cat next door?",
      ],
    ],
  },
  {
    day: "16 June 2026",
    exchanges: [
      [
        "I changed the dentist: it is Doctor Okafor now, in Bergweg.",
        "I will forget the station then.",
        "who is my new dentist?",
      ],
      [
        "Insurance number is K 4471 902, the card is in the green folder.",
        "Filed.",
        "where is the insurance card?",
        "what is my insurance number?",
      ],
      [
        "The electricity meter read 18,322 at the end of the month.",
        "That is less than last year.",
        "what was the electricity meter reading?",
      ],
      [
        "I pay for the gym until September and then cancel.",
        "The notice period is four weeks.",
        "when do I quit the gym?",
      ],
      [
        "The wifi password at the cabin is marmot-under-snow.",
        "Easy to say, hard to guess.",
        "how do I get online at the cabin?",
      ],
    ],
  },
  {
    day: "5 July 2026",
    exchanges: [
      [
        "We rewrote the parser in Rust and parsing got nine times faster.",
        "What about build times?",
        "how much faster is the rewritten parser?",
      ],
      ["They doubled, to four minutes on the build machine.", "A cache may help.", "how long does the build take?"],
      [
        "The customer in Oslo wants invoices in crowns, not euros.",
        "Exchange rates of which day?",
        "which currency does the Norwegian client need?",
      ],
      ["Of the day the goods leave the warehouse.", "That is easy to look up.", "which day's exchange rate counts?"],
      [
        "Backups run at 03:15 and go to the cellar in Graz.",
        "Off site, good.",
        "at what time do backups run?",
        "where are the backups stored?",
      ],
    ],
  },
  {
    day: "30 August 2026",
    exchanges: [
      [
        "I finished the novel by Szabó, the one with the housekeeper and the door.",
        "What did you think?",
        "which book did I finish reading in August?",
      ],
      ["Brilliant and cruel. Next is a history of salt.", "Dry, but seasoned.", "what do I want to read next?"],
      ["Our choir sings the Fauré requiem on 14 November.", "Which voice are you?", "what does my choir perform?"],
      [
        "Second tenor. Rehearsals are on Monday nights at the school.",
        "I will keep Mondays free.",
        "which voice do I sing?",
        "when does the choir practise?",
      ],
      [
        "I lent my drill to Henrik and want it back by October.",
        "I can remind you on the first.",
        "who borrowed my drill?",
      ],
    ],
  },
];

const SMALL_TALK: readonly Exchange[] = [
  ["How are you today?", "All is well here. What shall we do?"],
  ["Thanks, that helps a lot.", "You are welcome."],
  ["Can you say that again in simpler words?", "Of course: it does one thing after the other."],
  ["What do you think, should I go on like this?", "I would go on and look again in a week."],
  ["Do you remember what we talked about?", "Some of it; what would you like to know?"],
  ["I am tired, it was a long day at work.", "Then let us keep it short."],
  ["It rains again, I stay at home.", "A good day for tea and paperwork."],
  ["What is the name of that thing, you know which one I mean?", "I am not sure which one you mean."],
  ["Where was I? Which day is it today, when did we begin?", "You were about to tell me more."],
  ["Could you make a list of it?", "Here is a list: first, second, third."],
  ["How much is too much of a good thing?", "That depends on who has to pay for it."],
  ["Please wait a moment, the phone rings.", "I will wait."],
  ["My mother called, she says hello.", "Greetings back to her."],
  ["Is there anything on the calendar for me this week?", "Nothing that I know of."],
  ["That was not what I meant, try it once more.", "I will try it another way."],
  ["Let us talk about something else, a new day, a new topic.", "Gladly. What is on your mind?"],
];

const SEED = 31;
/** Small talk after each exchange that says something. */
const IDLE_EXCHANGES = 2;

export function chatSet(): EvalSet {
  const pick = seededBelow(SEED);
  const idle = () => SMALL_TALK[pick(SMALL_TALK.length)] ?? ["", ""];
  const told = TALKS.flatMap(({ day, exchanges }, number) => {
    const all = exchanges.flatMap((each) => [each, ...Array.from({ length: IDLE_EXCHANGES }, idle)]);
    const session = `talk${number}`;
    return all.flatMap(([said, replied, ...questions], at) => {
      const place = { session, questions };
      return [
        { ...place, document: { id: `${session}/${at * 2}`, title: `user, ${day}`, text: said, session } },
        {
          ...place,
          questions: [],
          document: { id: `${session}/${at * 2 + 1}`, title: `assistant, ${day}`, text: replied, session },
        },
      ];
    });
  });
  const asked = told.flatMap(({ questions, document }) => questions.map((text) => ({ text, relevant: [document] })));
  return { documents: told.map(({ document }) => document), queries: judge(asked, (each) => each) };
}
