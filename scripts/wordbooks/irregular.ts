/**
 * Forms of irregular verbs, which no rule of endings leads back to the infinitive. They take its gloss, and so do those of verbs with a prefix:
 * "nahm" gives "annahm", "vernahm" and "vernommen" where the table has "annehmen" and "vernehmen", "tuvo" gives "obtuvo".
 */

/** German: present (du and er), past, participle; "ge" of the participle is written apart. */
const GERMAN = `
  backen: backt buk ge-backen; befehlen: befiehlt befahl befohlen; beginnen: begann begannen begonnen; beißen: biss bissen ge-bissen; bergen: birgt barg ge-borgen;
  biegen: bog bogen ge-bogen; bieten: bot boten ge-boten; binden: band banden ge-bunden; bitten: bat baten ge-beten; blasen: bläst blies bliesen ge-blasen;
  bleiben: blieb blieben ge-blieben; brechen: bricht brach brachen ge-brochen; brennen: brannte brannten ge-brannt; bringen: brachte brachten ge-bracht;
  denken: dachte dachten ge-dacht; dringen: drang drangen ge-drungen; empfehlen: empfiehlt empfahl empfahlen empfohlen; essen: isst aß aßen ge-gessen;
  fahren: fährt fuhr fuhren ge-fahren; fallen: fällt fiel fielen ge-fallen; fangen: fängt fing fingen ge-fangen; finden: fand fanden ge-funden;
  fliegen: flog flogen ge-flogen; fliehen: floh flohen ge-flohen; fließen: floss flossen ge-flossen; fressen: frisst fraß fraßen ge-fressen;
  frieren: fror froren ge-froren; geben: gibt gab gaben ge-geben; gehen: ging gingen ge-gangen; gelingen: gelang gelangen gelungen; gelten: gilt galt galten ge-golten;
  geschehen: geschieht geschah geschahen geschehen; gewinnen: gewann gewannen gewonnen; gießen: goss gossen ge-gossen; gleichen: glich glichen ge-glichen;
  graben: gräbt grub gruben ge-graben; greifen: griff griffen ge-griffen; halten: hält hielt hielten ge-halten; hängen: hing hingen ge-hangen;
  heben: hob hoben ge-hoben; heißen: hieß hießen ge-heißen; helfen: hilft half halfen ge-holfen; kennen: kannte kannten ge-kannt; klingen: klang klangen ge-klungen;
  kommen: kam kamen ge-kommen; laden: lädt lud luden ge-laden; lassen: lässt ließ ließen ge-lassen; laufen: läuft lief liefen ge-laufen; leiden: litt litten ge-litten;
  leihen: lieh liehen ge-liehen; lesen: liest las lasen ge-lesen; liegen: lag lagen ge-legen; lügen: log logen ge-logen; meiden: mied mieden ge-mieden;
  messen: misst maß maßen ge-messen; nehmen: nimmt nahm nahmen ge-nommen; nennen: nannte nannten ge-nannt; raten: rät riet rieten ge-raten; reißen: riss rissen ge-rissen;
  reiten: ritt ritten ge-ritten; rennen: rannte rannten ge-rannt; rufen: rief riefen ge-rufen; schaffen: schuf schufen ge-schaffen; scheiden: schied schieden ge-schieden;
  scheinen: schien schienen ge-schienen; schieben: schob schoben ge-schoben; schießen: schoss schossen ge-schossen; schlafen: schläft schlief schliefen ge-schlafen;
  schlagen: schlägt schlug schlugen ge-schlagen; schließen: schloss schlossen ge-schlossen; schmelzen: schmilzt schmolz schmolzen ge-schmolzen;
  schneiden: schnitt schnitten ge-schnitten; schreiben: schrieb schrieben ge-schrieben; schreien: schrie schrien ge-schrien; schreiten: schritt schritten ge-schritten;
  schweigen: schwieg schwiegen ge-schwiegen; schwimmen: schwamm schwammen ge-schwommen; schwören: schwor schworen ge-schworen; sehen: sieht sah sahen ge-sehen;
  senden: sandte sandten ge-sandt; singen: sang sangen ge-sungen; sinken: sank sanken ge-sunken; sitzen: saß saßen ge-sessen; sprechen: spricht sprach sprachen ge-sprochen;
  springen: sprang sprangen ge-sprungen; stechen: sticht stach stachen ge-stochen; stehen: stand standen ge-standen; stehlen: stiehlt stahl stahlen ge-stohlen;
  steigen: stieg stiegen ge-stiegen; sterben: stirbt starb starben ge-storben; stoßen: stößt stieß stießen ge-stoßen; streichen: strich strichen ge-strichen;
  streiten: stritt stritten ge-stritten; tragen: trägt trug trugen ge-tragen; treffen: trifft traf trafen ge-troffen; treiben: trieb trieben ge-trieben;
  treten: tritt trat traten ge-treten; trinken: trank tranken ge-trunken; tun: tut tat taten ge-tan; verderben: verdirbt verdarb verdorben; vergessen: vergisst vergaß vergaßen vergessen;
  verlieren: verlor verloren; wachsen: wächst wuchs wuchsen ge-wachsen; waschen: wäscht wusch wuschen ge-waschen; weisen: wies wiesen ge-wiesen;
  wenden: wandte wandten ge-wandt; werben: wirbt warb warben ge-worben; werfen: wirft warf warfen ge-worfen; wiegen: wog wogen ge-wogen; winden: wand wanden ge-wunden;
  wissen: weiß wusste wussten ge-wusst; ziehen: zog zogen ge-zogen; zwingen: zwang zwangen ge-zwungen`;
const GERMAN_PREFIX =
  /^(ab|an|auf|aus|be|bei|da|dar|durch|ein|emp|ent|entgegen|er|fern|fest|fort|frei|ge|gegenüber|he?r(ab|an|auf|aus|bei|ein|um|unter|vor)?|hin(ab|auf|aus|ein|unter|weg|zu)?|hinter|hoch|los|miss|mit|nach|nieder|statt|teil|über|um|unter|ver|vor(an|aus|bei)?|wahr|weg|weiter|wider|wieder|zer|zu(rück|sammen)?|zwischen)?$/;
/** Prefixes whose participle has no "ge". */
const INSEPARABLE = /^(be|emp|ent|er|ge|hinter|miss|über|unter|ver|wider|zer)$/;

/** Spanish: present, past, future, subjunctive, participle where irregular. */
const SPANISH = `
  abrir: abierto abierta; andar: anduvo anduvieron; caber: cabe quepo cupo cupieron; caer: caigo cayó cayeron cayendo; conducir: conduzco condujo condujeron; creer: creyó creyeron creyendo;
  cubrir: cubierto cubierta; dar: doy da dan dio dieron dé den daba daban; decir: digo dice dicen dijo dijeron dirá diga digan dicho diciendo;
  dormir: duerme duermen durmió durmieron; empezar: empieza empiezan empezó; escribir: escrito escrita escritos escritas; hacer: hago hace hacen hizo hicieron hará harán haga hagan hecho hacía hacían haciendo;
  introducir: introdujo introdujeron; ir: voy va van vamos iba iban vaya vayan irá yendo; jugar: juega juegan; leer: leyó leyeron leyendo; morir: muere mueren murió murieron muerto;
  oír: oigo oye oyen oyó oyeron; pedir: pide piden pidió pidieron; pensar: piensa piensan; perder: pierde pierden; poner: pongo pone ponen puso pusieron pondrá ponga pongan puesto puesta;
  producir: produzco produjo produjeron; querer: quiero quiere quieren quiso quisieron querrá; reducir: redujo redujeron; reír: ríe ríen rió; romper: roto rota;
  saber: sé sabe saben supo supieron sabrá sepa; salir: salgo sale salen saldrá salga; seguir: sigo sigue siguen siguió siguieron siga siguiendo; sentir: siente sienten sintió sintieron;
  servir: sirve sirven sirvió sirvieron; tener: tengo tiene tienen tenemos tuvo tuvieron tendrá tendrán tendría tenga tengan tenía tenían teniendo;
  traducir: tradujo tradujeron; traer: traigo trae traen trajo trajeron traiga; valer: valgo vale valen valdrá valga; venir: vengo viene vienen vino vinieron vendrá venga vengan viniendo;
  ver: veo ve ven vio vieron visto vista veía veían; vestir: viste visten vistió; volver: vuelvo vuelve vuelven vuelto vuelta; construir: construyo construye construyen construyó construyeron construyendo;
  incluir: incluye incluyen incluyó incluyeron incluyendo; constituir: constituye constituyen constituyó; contribuir: contribuye contribuyen contribuyó; influir: influye influyen influyó;
  destruir: destruye destruyen destruyó destruyeron; sustituir: sustituye sustituyen sustituyó; distribuir: distribuye distribuyen distribuyó; concluir: concluye concluyen concluyó concluyeron;
  encontrar: encuentra encuentran; mostrar: muestra muestran; contar: cuenta cuentan; probar: prueba prueban; acordar: acuerda acuerdan; cerrar: cierra cierran; comenzar: comienza comienzan;
  entender: entiende entienden; mover: mueve mueven; resolver: resuelve resuelven resuelto; morder: muerde muerden; soler: suele suelen solía solían; tender: tiende tienden;
  extender: extiende extienden; referir: refiere refieren refirió; sugerir: sugiere sugieren sugirió; preferir: prefiere prefieren prefirió; convertir: convierte convierten convirtió convirtieron;
  elegir: elige eligen eligió eligieron; corregir: corrige corrigen corrigió; conseguir: consigue consiguen consiguió consiguieron; conocer: conozco conozca; parecer: parezco parezca`;

const SPANISH_PREFIX =
  /^(a|abs|ante|com|con|contra|de|des|dis|en|entre|ex|im|in|inter|man|o|ob|pos|pre|pro|re|sobre|sos|su|sub|trans)?$/;

/** Adds the forms to the table; words it has stay as they are. */
export function addIrregularForms(table: Map<string, string>, code: 'de' | 'es'): void {
  const verbs = (code === 'de' ? GERMAN : SPANISH).split(';').map((line) => {
    const [verb, forms] = line.split(':') as [string, string];
    return { verb: verb.trim(), forms: forms.trim().split(/\s+/) };
  });
  const prefixes = code === 'de' ? GERMAN_PREFIX : SPANISH_PREFIX;
  for (const [word, gloss] of [...table])
    for (const { verb, forms } of verbs) {
      const prefix = word.endsWith(verb) ? word.slice(0, -verb.length) : undefined;
      if (prefix === undefined || !prefixes.test(prefix)) continue;
      for (const form of forms) {
        const whole = prefix + form.replace('ge-', INSEPARABLE.test(prefix) ? '' : 'ge');
        // "aufgaben" is of "Aufgabe" sooner than of "aufgeben".
        if (!table.has(whole) && !table.has(whole.replace(/n$/, ''))) table.set(whole, gloss);
      }
    }
}
