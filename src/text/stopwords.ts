/**
 * Words that say nothing about a text's subject. Chosen on questions: without the list retrieval is worse on them.
 * Single letters (d, ll, m, re, s, t, ve) are what is left of English contractions after tokenisation.
 */
const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const en = words(
  `a an and are as at be been being but by can could did do does doing for from had has have having he her hers him his
  how i if in into is it its just me my no nor not of on or our ours she so some such than that the their them then
  there these they this those to too was we were what when where which who whom whose why will with would you your
  yours am about after all also any because before between both during each few more most other over own same should
  through under until up very d ll m re s t ve`,
);

const de = words(
  `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei bin
  bis bist da damit dann das dass dasselbe dazu dein deine dem den denn der des dich die dies diese dieselben diesem
  diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige einigen er es etwas euch
  euer für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer
  im in indem ins ist ja jede jedem jeden jeder jedes jene jetzt kann kein keine können könnte machen man manche mein
  meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich
  sie sind so solche soll sollte sondern sonst über um und uns unser unter vom von vor während war waren warst was weg
  weil weiter welche welchem welchen welcher welches wenn werde werden wer wem wen wessen wie wieder will wir wird wo
  wollen wollte wurde wurden würde zu zum zur zwar zwischen wann warum woher wohin wieso weshalb`,
);

const es = words(
  `a al algo algunas algunos ante antes como con contra cual cuál cuales cuáles cuando cuándo cuanto cuánto cuántos
  cuántas cuánta de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos
  esta está estaba estado están estas este esto estos fue fueron ha había haber han hasta hay la las le les lo los más
  me mi mis mucho muchos muy nada ni no nos nosotros o os otra otras otro otros para pero poco por porque por qué que
  qué quien quién quienes quiénes se sea ser si sí sido sin sobre son su sus suyo también tan tanto te tiene tienen
  todo todos tu tus un una unas uno unos y ya yo`,
);

export const STOP_WORDS: {
  readonly en: ReadonlySet<string>;
  readonly de: ReadonlySet<string>;
  readonly es: ReadonlySet<string>;
} = { en, de, es };
