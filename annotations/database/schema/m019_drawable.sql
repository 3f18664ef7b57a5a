-- Version 19. An item that a desk gave back without a label can be drawn. Until version 18 an item was lost to samples as soon as a
-- desk had prefetched it.

DROP TRIGGER inclusion_before_it_is_seen;
CREATE TRIGGER inclusion_before_it_is_labelled BEFORE INSERT ON inclusion
WHEN EXISTS (SELECT 1 FROM assignment WHERE item = NEW.item AND state <> 'released')
BEGIN SELECT RAISE(ABORT, 'a probability is stored before anybody labels the item'); END;
