import { render } from 'preact';
import { Page } from './page.tsx';
import { beginSession } from './session.ts';

beginSession();
render(<Page />, document.getElementById('page')!);
