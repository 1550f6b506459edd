/** Amounts are decimal text from the wire to the database and back: a float never holds one. */

/** Digits of numeric(20, 4). */
const WHOLE = 16;
const FRACTION = 4;

/** A JSON number of more digits may have been rounded before it came here. */
const EXACT_DIGITS = 15;

export type AmountFault = 'not_a_number' | 'not_positive' | 'too_precise' | 'too_large' | 'not_exact';

/** Plain decimal text, or what is wrong. Zero passes only where `zero` is true. */
export function parseAmount(
  given: string | number,
  zero = false,
): { readonly text: string } | { readonly fault: AmountFault } {
  const text = typeof given === 'number' ? String(given) : given.trim();
  const [, sign, whole = '', fraction = ''] = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '')
    return { fault: typeof given === 'number' && /e\+/.test(text) ? 'too_large' : 'not_a_number' };
  const digits = whole.replace(/^0+/, '');
  const rest = fraction.replace(/0+$/, '');
  if (rest.length > FRACTION) return { fault: 'too_precise' };
  if (digits.length > WHOLE) return { fault: 'too_large' };
  if (typeof given === 'number' && digits.length + rest.length > EXACT_DIGITS) return { fault: 'not_exact' };
  const nothing = digits === '' && rest === '';
  if ((sign === '-' && !nothing) || (nothing && !zero)) return { fault: 'not_positive' };
  return { text: `${digits || '0'}${rest && `.${rest}`}` };
}

export const AMOUNT_FAULTS: Readonly<Record<AmountFault, string>> = {
  not_a_number: 'must be a plain decimal number like 15.5',
  not_positive: 'must be greater than 0; the transaction_type gives the direction',
  too_precise: `has more than ${FRACTION} decimals`,
  too_large: `has more than ${WHOLE} digits before the point`,
  not_exact: `has more than ${EXACT_DIGITS} digits, which a JSON number does not hold exactly: send it as a string`,
};
