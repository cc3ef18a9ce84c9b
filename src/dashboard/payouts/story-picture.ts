import type { TransactionResponse } from '../../contract/control-responses.ts';
import { download } from '../world/download.ts';
import { rupees } from '../../contract/words.ts';
import { istMoment } from '../ui/formats.ts';
import { gapText, type StoryLine } from './two-lanes.ts';

const WIDTH = 920;
const LEFT = 24;
const BANK = 220;
const CLIENT = 560;
const LINE = 26;
const HEAD = 86;
const SCALE = 2;

const COLOURS = {
  ground: '#ffffff',
  text: '#171a21',
  dim: '#5b6472',
  line: '#d5d9e0',
  risk: '#c0271b',
  stale: '#9a6a00',
};

/** Draws the story in two lanes, always on white, since it goes to documents and chats. */
function draw(payout: TransactionResponse, story: readonly StoryLine[]): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const rows = story.reduce((sum, { gap }) => sum + (gap === null || gap.ms === null ? 1 : 2), 0);
  const height = HEAD + rows * LINE + 20;
  [canvas.width, canvas.height] = [WIDTH * SCALE, height * SCALE];
  const on = canvas.getContext('2d')!;
  on.scale(SCALE, SCALE);
  on.fillStyle = COLOURS.ground;
  on.fillRect(0, 0, WIDTH, height);
  const write = (text: string, x: number, y: number, colour: string, weight = 400): void => {
    on.font = `${weight} 13px Inter, sans-serif`;
    on.fillStyle = colour;
    on.fillText(text.replaceAll(/\p{C}/gu, '\uFFFD'), x, y, (x < CLIENT ? CLIENT - 20 : WIDTH - 16) - x);
  };
  write(
    `${payout.client_ref_id} · ${rupees(payout.amount)} · ${payout.transfer_mode} · ${payout.status}`,
    LEFT,
    32,
    COLOURS.text,
    600,
  );
  for (const [title, x] of [
    ['World time, IST', LEFT],
    ['Bank', BANK],
    ['Your client', CLIENT],
  ] as const) {
    write(title, x, 64, COLOURS.dim, 500);
  }
  on.fillStyle = COLOURS.line;
  on.fillRect(LEFT, 74, WIDTH - 2 * LEFT, 1);
  let y = HEAD + 12;
  for (const { atMs, bank, client, gap, isAhead, known } of story) {
    const colour = isAhead ? COLOURS.dim : COLOURS.text;
    write(istMoment(atMs).replace(' IST', ''), LEFT, y, COLOURS.dim);
    write(`${bank ?? ''}${isAhead ? ' (scheduled)' : ''}`, BANK, y, colour);
    write(client ?? '', CLIENT, y, colour);
    y += LINE;
    if (gap === null) continue;
    const gapColour = gap.kind === 'untold' ? COLOURS.risk : COLOURS.stale;
    on.fillStyle = gapColour;
    on.fillRect(CLIENT - 14, y - LINE - 10, 4, gap.ms === null ? LINE : LINE + 16);
    if (gap.ms === null) continue;
    write(gapText(gap, known), CLIENT, y, gapColour, 500);
    y += LINE;
  }
  return canvas;
}

/** Copies the story as a picture, or saves it where a page may not copy one. @returns what it did */
export async function copyPicture(payout: TransactionResponse, story: readonly StoryLine[]): Promise<string> {
  const canvas = draw(payout, story);
  const picture = new Promise<Blob>((resolve) => canvas.toBlob((blob) => resolve(blob!), 'image/png'));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })]);
    return 'The story is copied as a picture.';
  } catch {
    download(`story-${payout.txn_id}.png`, await picture);
    return 'The story is saved as a picture.';
  }
}
