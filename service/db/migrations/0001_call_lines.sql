CREATE FUNCTION "ahs"."call_line"("call" "ahs"."own_call") RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
	SELECT concat_ws(' ', call.hash, call.block, call.transaction_index, call."position", call."timestamp", coalesce(call."to", '-'),
		coalesce(call.selector, '-'), call.value, call.ok::int, call.gas_limit, call.gas_used,
		call.fee_wei + coalesce(call.l1_fee_wei, 0), call.gas_price_wei, coalesce(call.recipient, '-'), coalesce(call.amount::text, '-'),
		CASE WHEN call.effect IS NULL THEN '- - - -' ELSE concat_ws(' ', coalesce(call.market_price_wei::text, '-'), call.effect,
			coalesce(nullif(array_to_string(call.emitters, ','), ''), '-'), coalesce(nullif(array_to_string(call.moves, ','), ''), '-'))
		END)
$$;--> statement-breakpoint
CREATE FUNCTION "ahs"."write_call_line"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.line := ahs.call_line(NEW);
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "own_call_line" BEFORE INSERT OR UPDATE ON "ahs"."own_call" FOR EACH ROW EXECUTE FUNCTION "ahs"."write_call_line"();
