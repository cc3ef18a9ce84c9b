import { z } from 'zod';
import { wholeNumber as wholeNumberFrom } from '../contract/control.ts';
import { writtenInr } from '../contract/words.ts';

/** Arguments that several actions take: as text of the command line, or as JSON of an agent. */

export const amount = (description: string) =>
  z
    .preprocess(
      (given: number | string) => writtenInr(String(given)) ?? given,
      z.number({
        error: ({ input }) =>
          input === undefined
            ? undefined
            : `must be INR such as 1500.50 or ₹1,500.50, not ${JSON.stringify(input)}`,
      }),
    )
    .meta({ description, title: 'amount' });

/** A number as it is printed, such as #7, too. */
export const wholeNumber = (description: string, min = 1, max = 1_000_000_000) =>
  z
    .preprocess(
      (given) => (typeof given === 'string' ? given.replace(/^#/, '') : given),
      wholeNumberFrom(min, max),
    )
    .meta({ description, title: 'number' });

/** Of a list, of which a sandbox returns one page. */
export const limit = wholeNumber('', 1, 1000)
  .default(20)
  .meta({ description: 'how many to show, up to 1000 [default 20]', title: 'count' });

/** One that is a number may be written as a number by an agent. */
export const text = (description: string, title = 'text') =>
  z
    .preprocess((given) => (typeof given === 'number' ? String(given) : given), z.string().min(1))
    .meta({ description, title });

export const reference = text('its client_ref_id', 'reference');

export const flag = (description: string) => z.boolean().default(false).describe(description);

/** A text in a file for the command line; the text itself, or the JSON, for an agent. */
export const document = (description: string) =>
  z.union([z.string().min(1), z.looseObject({})]).meta({ description, title: 'file' });

/** The same, where a list is a document, too. */
export const listDocument = (description: string) =>
  z.union([z.string().min(1), z.array(z.unknown()), z.looseObject({})]).meta({ description, title: 'file' });
