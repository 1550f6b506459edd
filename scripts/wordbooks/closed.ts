/**
 * Words set by hand. Those of the closed classes, since dictionaries treat them as grammar: what carries content (negation, questions, time,
 * place, number, quantity) has the gloss given here, the rest is in no table. And terms of work and software that dictionaries lack or give
 * an everyday meaning that is seldom the one meant.
 */
export interface ClosedWords {
  readonly glosses: ReadonlyMap<string, string>;
  readonly grammar: ReadonlySet<string>;
}

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** "gloss: word word; gloss: word" */
function glosses(list: string): ReadonlyMap<string, string> {
  const pairs = list.split(';').flatMap((group) => {
    const [gloss, forms] = group.split(':') as [string, string];
    return [...words(forms)].map((word) => [word, gloss.trim()] as const);
  });
  return new Map(pairs);
}

const de: ClosedWords = {
  glosses: glosses(`
    not: nicht; no: kein keine keinen keinem keiner keines nein; never: nie niemals nimmer; nothing: nichts; nobody: niemand niemanden niemandem;
    nowhere: nirgends nirgendwo; without: ohne; neither: weder; yes: ja; when: wann; why: warum wieso weshalb; who: wer wen wem;
    whose: wessen; where: wo; from where: woher; where to: wohin; how many: wieviel wieviele; before: vor vorher bevor zuvor; after: nach nachdem;
    afterwards: nachher danach; since: seit seitdem; until: bis; during: während; between: zwischen; against: gegen; instead: statt anstatt stattdessen;
    because: weil; if: wenn falls; although: obwohl obgleich; despite: trotz; nevertheless: trotzdem dennoch; therefore: deshalb deswegen daher;
    now: jetzt nun; today: heute; yesterday: gestern; tomorrow: morgen; here: hier; there: dort; left: links; right: rechts; above: oben oberhalb;
    below: unten unterhalb; behind: hinter hinten; under: unter; in front: vorne vorn; inside: innen innerhalb drinnen; outside: außen außerhalb draußen;
    always: immer; often: oft häufig; sometimes: manchmal; rarely: selten; already: bereits schon; soon: bald; later: später; again: wieder erneut;
    many: viele vielen vieler; much: viel; few: wenige wenigen; little: wenig; more: mehr; most: meisten meiste; less: weniger; all: alle allen aller;
    everything: alles; everybody: jedermann; some: einige einigen manche; several: mehrere mehreren; both: beide beiden; only: nur; enough: genug;
    almost: fast beinahe; approximately: ungefähr etwa circa; too: zu; very: sehr; together: zusammen gemeinsam; alone: allein alleine;
    one: eins; two: zwei; three: drei; four: vier; five: fünf; six: sechs; seven: sieben; eight: acht; nine: neun; ten: zehn; eleven: elf;
    twelve: zwölf; twenty: zwanzig; thirty: dreißig; hundred: hundert; thousand: tausend; first: erste ersten erster erstes zuerst;
    second: zweite zweiten zweiter zweites; third: dritte dritten dritter drittes; last: letzte letzten letzter letztes; next: nächste nächsten nächster nächstes;
    other: andere anderen anderer anderes; same: gleiche gleichen selbe selben; want: wollen möchten; like: mögen; million: million; billion: milliarde;
    crash: absturz; storage: ablage; dependency: abhängigkeit; log in: anmelden einloggen; login: anmeldung; log out: abmelden ausloggen; request: anfrage;
    connection: anbindung; response time: antwortzeit; memory: arbeitsspeicher; workload: auslastung; outage: ausfall; delivery: auslieferung; bandwidth: bandbreite;
    fix: beheben; permission: berechtigung; deploy: bereitstellen; deployment: bereitstellung; release: freigabe; metric: kennzahl; node: knoten; deletion: löschung;
    quantity: menge; network: netz; log: protokollieren; invoice: rechnung; layer: schicht; page: seite; backup: sicherung datensicherung; lock: sperre;
    disruption: störung; history: verlauf; encrypt: verschlüsseln; timestamp: zeitstempel; goal: ziel; appointment: termin; preference: vorliebe; policy: richtlinie;
    user interface: oberfläche benutzeroberfläche; remember: merken; operation: betrieb; write: schreiben; learn: lernen; meat: fleisch; scope: geltungsbereich;
    recovery: wiederherstellung; employee: mitarbeiter; customer: kunde; answer: antwort; big: groß; provide: bieten; load: lädt lud luden geladen; crash: abstürzen`),
  grammar: words(`
    aber als also am an auch auf aus bei beim bin bist da dabei dadurch dafür damit dann daran darauf daraus darin darüber darum dass daß davon dazu
    dein deine dem den denn der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch du durch dürfen darf ein eine einem einen einer
    eines er es etwas euch euer eure für ganz gar habe haben hast hat hatte hatten hätte hätten hin her ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in
    indem ins ist je jede jedem jeden jeder jedes jene jenem jenen jener jenes kann können könnte könnten konnte konnten man mein meine mich mir mit
    muss müssen musste mussten ob oder sei seien sein seine seinem seinen seiner seines selbst sich sie sind so sodass solche solchen solcher soll sollen sollte
    sollten sondern sowie sowohl über um und uns unser unsere vom von wäre wären war waren was welche welchem welchen welcher welches werde werden werdet
    wie will wir wird wirst wobei wodurch wofür womit woran worauf worin worüber wovon wozu wurde wurden würde würden zum zur zwar eben mal halt wohl`),
};

const es: ClosedWords = {
  glosses: glosses(`
    no: no ningún ninguno ninguna; never: nunca jamás; nothing: nada; nobody: nadie; without: sin; neither: tampoco; yes: sí; when: cuándo cuando; who: quién quiénes;
    where: dónde donde adónde; how: cómo; what: qué; which: cuál cuáles; how much: cuánto cuánta; how many: cuántos cuántas; why: porqué;
    before: antes; after: después; since: desde; until: hasta; during: durante; between: entre; against: contra; instead: vez; because: porque; if: si;
    although: aunque; therefore: entonces; now: ahora; today: hoy; yesterday: ayer; tomorrow: mañana; here: aquí acá; there: allí allá ahí; left: izquierda;
    right: derecha; above: arriba encima; below: abajo debajo; behind: detrás atrás; under: bajo; in front: delante; inside: dentro adentro;
    outside: fuera afuera; always: siempre; often: frecuentemente; already: ya; soon: pronto; later: luego; many: muchos muchas; much: mucho mucha; few: pocos pocas;
    little: poco poca; more: más; less: menos; all: todos todas; everything: todo; some: algunos algunas algún; several: varios varias; both: ambos ambas;
    only: solo sólo solamente; enough: bastante suficiente; almost: casi; approximately: aproximadamente; too: demasiado; very: muy; together: juntos juntas junto;
    one: uno; two: dos; three: tres; four: cuatro; five: cinco; six: seis; seven: siete; eight: ocho; nine: nueve; ten: diez; eleven: once; twelve: doce;
    twenty: veinte; thirty: treinta; hundred: cien ciento; thousand: mil; first: primero primera primer; second: segundo segunda; third: tercero tercera tercer;
    last: último última; next: próximo próxima siguiente; other: otro otra otros otras; same: mismo misma mismos mismas; want: querer; have: tener;
    do: hacer; million: millón; billion: millardo; still: todavía aún; data: dato datos;
    state: estado estados; attachment: adjunto; scope: ámbito; fix: arreglar arreglo; subject: asunto; outage: caída; mailbox: buzón; checkbox: casilla; check: comprobación;
    email: correo; dependency: dependencia; download: descarga; deploy: desplegar; deployment: despliegue; delete: borrar; source: fuente; sheet: hoja; release: lanzamiento;
    batch: lote; goal: meta; monitoring: monitoreo; priority: prioridad; backup: respaldo; rename: renombrar; refund: reembolso; meeting: reunión; tracking: seguimiento;
    support: soporte; go up: subir; queue: cola; interruption: interrupción; site: sitio; setting: ajuste; settings: ajustes; output: salida; meat: carne;
    station: estación; hot: caliente; doctor: médico; answer: respuesta; big: grande; wide: ancho`),
  grammar: words(`
    a al algo ante aquel aquella aquellas aquello aquellos así aun cada como con conmigo contigo cual cuales cualquier cuanto cuya cuyas cuyo cuyos de del el él
    ella ellas ello ellos en era eran eres es esa esas ese eso esos esta está estaba estaban estado están estar estas este esto estos estoy fue fueron fui ha había
    habían haber habrá haya he hemos hay han has la las le les lo los me mi mí mis mía mío nos nosotros nuestra nuestras nuestro nuestros o os para pero por pues que
    quien quienes se sea sean según ser será serán si sido siendo sino sobre son soy su sus suya suyas suyo suyos también tan tanto te ti tu tú tus tuyo
    u un una unas unos usted ustedes y e ni ya yo pueda puede pueden poder podría debe deben deber vosotros vuestro vuestra`),
};

export const CLOSED_WORDS: Readonly<Record<'de' | 'es', ClosedWords>> = { de, es };
