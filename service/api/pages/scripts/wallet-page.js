// The page of a wallet: texts to copy, and a form that counts once.
import "./copy.js";
import "./once.js";
