/** The one reader of amounts that people type. */

/** Digits, in Indian groups (1,00,000) or in groups of three (100,000), and at most two decimals. */
const AMOUNT = /^₹?\s*((?:\d+|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})(?:\.\d{1,2})?)$/;

/** INR; null for a text that is not an amount beyond doubt: `1500,50` may mean two amounts. */
export function parseAmount(text: string): number | null {
  const [, digits] = AMOUNT.exec(text.trim()) ?? [];
  return digits === undefined ? null : Number(digits.replaceAll(',', ''));
}

/** Why a text is refused as an amount. */
export const noAmountText = (text: string): string => `“${text}” is not an amount: write 1500.50 or 1,500.50`;
