// The page of a key: a form that counts once, and the wallet that adds credits.
import "./buy-key.js";
import "./once.js";
