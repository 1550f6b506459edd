/** A small PDF made by hand: pages of lines, each with its size in points. */

export type PdfLine = readonly [size: number, text: string];

export function makePdf(
  pages: readonly (readonly PdfLine[])[],
  options: { title?: string; trailer?: string } = {},
): Buffer {
  const kids = pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ');
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>',
    ...pages.flatMap((lines, i) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * i} 0 R>>`,
      stream(drawn(lines)),
    ]),
    `<</Title(${options.title ?? ''})>>`,
  ];
  return assemble(objects, `/Root 1 0 R/Info ${objects.length} 0 R${options.trailer ?? ''}`);
}

/** One page whose content is a stream as given, with its dictionary. */
export function makePdfOfStream(dictionary: string, data: Buffer): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>',
    `<<${dictionary}/Length ${data.length}>>stream\n${data.toString('latin1')}\nendstream`,
  ];
  return assemble(objects, '/Root 1 0 R');
}

function assemble(objects: readonly string[], trailer: string): Buffer {
  let out = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = out.length;
    out += `${i + 1} 0 obj${object}endobj\n`;
    return at;
  });
  const xref = out.length;
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  out += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer<</Size ${size}${trailer}>>\nstartxref\n${xref}\n%%EOF`;
  return Buffer.from(out, 'latin1');
}

const stream = (content: string): string => `<</Length ${content.length}>>stream\n${content}\nendstream`;

function drawn(lines: readonly PdfLine[]): string {
  let y = 750;
  const shown = lines.map(([size, text]) => {
    const at = y;
    y -= size * 1.5;
    return `/F1 ${size} Tf 1 0 0 1 72 ${at} Tm (${text.replace(/[\\()]/g, '\\$&')}) Tj`;
  });
  return `BT\n${shown.join('\n')}\nET`;
}
