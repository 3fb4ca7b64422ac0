-- Of its arguments alone: concat_ws and array_to_string are only called stable because of what else they could be given.
CREATE FUNCTION "ahs"."call_line"(hash text, block bigint, transaction_index integer, "position" integer, "timestamp" bigint, "to" text, selector text, value numeric, ok boolean, gas_limit numeric, gas_used numeric, fee_wei numeric, l1_fee_wei numeric, gas_price_wei numeric, recipient text, amount numeric, market_price_wei numeric, effect text, emitters text[], moves text[])
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT concat_ws(' ', hash, block, transaction_index, "position", "timestamp", coalesce("to", '-'), coalesce(selector, '-'),
		value, ok::int, gas_limit, gas_used, fee_wei + coalesce(l1_fee_wei, 0), gas_price_wei, coalesce(recipient, '-'),
		coalesce(amount::text, '-'),
		CASE WHEN effect IS NULL THEN '- - - -' ELSE concat_ws(' ', coalesce(market_price_wei::text, '-'), effect,
			coalesce(nullif(array_to_string(emitters, ','), ''), '-'), coalesce(nullif(array_to_string(moves, ','), ''), '-'))
		END)
$$;--> statement-breakpoint
ALTER TABLE "ahs"."own_call" ADD COLUMN "line" text GENERATED ALWAYS AS (ahs.call_line(hash, block, transaction_index, position, "timestamp", "to", selector, value, ok, gas_limit, gas_used, fee_wei, l1_fee_wei, gas_price_wei, recipient, amount, market_price_wei, effect, emitters, moves)) STORED NOT NULL;